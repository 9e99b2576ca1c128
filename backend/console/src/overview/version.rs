//! A broker's version, and which published holes it has.

use serde::Serialize;

/// Of Apache RocketMQ: 4.x or 5.x.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads `V5_3_1`, `V4_9_4_SNAPSHOT` or `5.1.0`; another product's version is none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['V', 'v']);
        let mut numbers = text.split(['_', '.', '-']).map_while(|part| part.parse::<u32>().ok());
        let version = Self(numbers.next()?, numbers.next()?, numbers.next().unwrap_or(0));
        matches!(version.0, 3..=5).then_some(version)
    }

    /// CVE-2023-33246: whoever reaches the broker's port can have it run commands. Mended in 5.1.1 and 4.9.6.
    pub fn runs_foreign_commands(self) -> bool {
        self < Self(4, 9, 6) || (self.0 == 5 && self < Self(5, 1, 1))
    }

    /// CVE-2023-37582: the same through a name server of this release. Mended in 5.1.2 and 4.9.7.
    pub fn name_server_runs_foreign_commands(self) -> bool {
        self < Self(4, 9, 7) || (self.0 == 5 && self < Self(5, 1, 2))
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn holes_by_version() {
        for (text, broker, name_server) in [
            ("V4_9_4", true, true),
            ("V4_9_6", false, true),
            ("V4_9_7", false, false),
            ("V5_0_0", true, true),
            ("V5_1_0", true, true),
            ("V5_1_1", false, true),
            ("V5_1_2", false, false),
            ("V5_5_0", false, false),
            ("V4_9_4_SNAPSHOT", true, true),
        ] {
            let version = Version::parse(text).expect(text);
            let holes = (version.runs_foreign_commands(), version.name_server_runs_foreign_commands());
            assert_eq!(holes, (broker, name_server), "{text}");
        }
        assert_eq!(Version::parse("1.0.0"), None);
        assert_eq!(Version::parse(""), None);
    }
}
