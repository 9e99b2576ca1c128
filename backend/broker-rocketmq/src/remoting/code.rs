//! Numbers of the protocol (`RequestCode` and `ResponseCode` of Apache RocketMQ).

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestCode {
    PullMessage = 11,
    QueryMessage = 12,
    QueryConsumerOffset = 14,
    UpdateConsumerOffset = 15,
    UpdateAndCreateTopic = 17,
    AllTopicConfig = 21,
    BrokerConfig = 26,
    BrokerRuntimeInfo = 28,
    SearchOffsetByTimestamp = 29,
    MaxOffset = 30,
    MinOffset = 31,
    ViewMessageById = 33,
    HeartBeat = 34,
    UnregisterClient = 35,
    ConsumerListByGroup = 38,
    AllConsumerOffset = 43,
    RouteInfoByTopic = 105,
    BrokerClusterInfo = 106,
    UpdateAndCreateSubscriptionGroup = 200,
    AllSubscriptionGroupConfig = 201,
    TopicStatsInfo = 202,
    ConsumerConnectionList = 203,
    DeleteSubscriptionGroup = 207,
    ConsumeStats = 208,
    DeleteTopicInBroker = 215,
    DeleteTopicInNameServer = 216,
    InvokeBrokerToResetOffset = 222,
    QueryTopicConsumeByWho = 300,
    ConsumerRunningInfo = 307,
    SendMessageV2 = 310,
    TopicConfig = 351,
}

impl RequestCode {
    pub(crate) fn number(self) -> i32 {
        self as i32
    }
}

/// What is answered, as far as Millrace tells it apart.
pub(crate) struct ResponseCode;

impl ResponseCode {
    pub(crate) const SUCCESS: i32 = 0;
    pub(crate) const SYSTEM_ERROR: i32 = 1;
    pub(crate) const NOT_SUPPORTED: i32 = 3;
    pub(crate) const FLUSH_DISK_TIMEOUT: i32 = 10;
    pub(crate) const SLAVE_NOT_AVAILABLE: i32 = 11;
    pub(crate) const FLUSH_SLAVE_TIMEOUT: i32 = 12;
    pub(crate) const NO_PERMISSION: i32 = 16;
    pub(crate) const TOPIC_NOT_EXIST: i32 = 17;
    pub(crate) const PULL_NOT_FOUND: i32 = 19;
    pub(crate) const PULL_RETRY_IMMEDIATELY: i32 = 20;
    pub(crate) const PULL_OFFSET_MOVED: i32 = 21;
    pub(crate) const QUERY_NOT_FOUND: i32 = 22;
    pub(crate) const SUBSCRIPTION_GROUP_NOT_EXIST: i32 = 26;
    pub(crate) const CONSUMER_NOT_ONLINE: i32 = 206;
    pub(crate) const NO_MESSAGE: i32 = 208;
}
