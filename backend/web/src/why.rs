//! Reasons in the reader's language. What a broker or the system said stays in its own words.

use millrace_core::coverage::Why;

use crate::i18n::Msg;

pub(crate) fn why(why: &Why) -> Msg {
    match why {
        Why::NotReadYet => Msg::new("why-not-read-yet"),
        Why::OneReading => Msg::new("why-one-reading"),
        Why::WentBack => Msg::new("why-went-back"),
        Why::NeverCommitted => Msg::new("why-never-committed"),
        Why::NotListed => Msg::new("why-not-listed"),
        Why::NotTold => Msg::new("why-not-told"),
        Why::NoSuchAddress => Msg::new("why-no-such-address"),
        Why::NoNameServer(detail) => Msg::new("why-no-name-server").with("detail", detail),
        Why::Unreachable { address, detail } => {
            Msg::new("why-unreachable").with("address", address).with("detail", detail)
        }
        Why::TimedOut { address, millis } => Msg::new("why-timed-out").with("address", address).with("millis", *millis),
        Why::NoSuchBroker(broker) => Msg::new("why-no-such-broker").with("broker", broker),
        Why::NotThere(what) => Msg::new("why-not-there").with("what", what),
        Why::NotPermitted { address, remark } => {
            Msg::new("why-not-permitted").with("address", address).with("remark", remark)
        }
        Why::Answered { address, code, remark } => {
            Msg::new("why-answered").with("address", address).with("code", *code).with("remark", remark)
        }
        Why::NotReadable(topic) => Msg::new("why-not-readable").with("topic", topic),
        Why::NewestOnly { messages } => Msg::new("why-newest-only").with("n", *messages),
        Why::LeftOut { asked, all } => Msg::new("why-left-out").with("asked", *asked).with("all", *all),
        Why::Said(text) => Msg::new("why-said").with("text", text),
    }
}

#[cfg(test)]
mod tests {
    use millrace_core::coverage::Why;

    use super::why;
    use crate::i18n::Locale;

    #[test]
    fn english_reads_as_the_api_has_it_and_chinese_is_chinese() {
        let (address, remark) = ("192.0.2.1:10911".to_owned(), "no GET".to_owned());
        let own = [
            Why::NotReadYet,
            Why::OneReading,
            Why::WentBack,
            Why::NeverCommitted,
            Why::NotListed,
            Why::NotTold,
            Why::NoSuchAddress,
            Why::NoNameServer("192.0.2.9:9876".to_owned()),
            Why::Unreachable { address: address.clone(), detail: "refused".to_owned() },
            Why::TimedOut { address: address.clone(), millis: 3_000 },
            Why::NoSuchBroker("broker-c".to_owned()),
            Why::NotThere("topic orders".to_owned()),
            Why::NotPermitted { address: address.clone(), remark: remark.clone() },
            Why::Answered { address, code: 1, remark },
            Why::NotReadable("orders".to_owned()),
            Why::NewestOnly { messages: 64 },
            Why::LeftOut { asked: 40, all: 70 },
        ];
        for reason in own {
            let english = why(&reason).text(Locale::En);
            assert_eq!(english.replace("3,000", "3000"), reason.english());
            let chinese = why(&reason).text(Locale::ZhCn);
            assert!(chinese.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c)), "{chinese}");
        }
        assert_eq!(why(&Why::Said("disk on fire".to_owned())).text(Locale::ZhCn), "disk on fire");
    }
}
