import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.remoting.protocol.body.ClusterInfo;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** Clients of one cluster, message trace on. */
final class Bus {
    private final String nameServer;

    Bus(String nameServer) {
        this.nameServer = nameServer;
    }

    /** Creates the topic on every master, and returns when the name server knows all of them. */
    void createTopic(String topic, int queues, String type) throws Exception {
        DefaultMQAdminExt admin = admin();
        try {
            Set<String> masters = masters(admin);
            for (String master : masters) {
                TopicConfig config = new TopicConfig(topic, queues, queues);
                config.getAttributes().put("+message.type", type);
                admin.createAndUpdateTopicConfig(master, config);
            }
            while (routes(admin, topic) < masters.size()) {
                Thread.sleep(50);
            }
        } finally {
            admin.shutdown();
        }
    }

    private DefaultMQAdminExt admin() throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt();
        admin.setNamesrvAddr(nameServer);
        admin.setInstanceName("admin-" + System.nanoTime());
        admin.start();
        return admin;
    }

    private static Set<String> masters(DefaultMQAdminExt admin) throws Exception {
        Set<String> masters = new HashSet<>();
        ClusterInfo cluster = admin.examineBrokerClusterInfo();
        cluster.getBrokerAddrTable().values().forEach(broker -> masters.add(broker.getBrokerAddrs().get(0L)));
        masters.remove(null);
        return masters;
    }

    private static int routes(DefaultMQAdminExt admin, String topic) {
        try {
            return admin.examineTopicRouteInfo(topic).getBrokerDatas().size();
        } catch (Exception notYet) {
            return 0;
        }
    }

    DefaultMQProducer producer(String group) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(group, null, true, null);
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(group);
        producer.setSendMsgTimeout(10_000);
        producer.start();
        return producer;
    }

    /** Not started: it wants its listener first. */
    TransactionMQProducer transactionProducer(String group) {
        TransactionMQProducer producer = new TransactionMQProducer(group, null, true, null);
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(group);
        producer.setSendMsgTimeout(10_000);
        return producer;
    }

    /** Not started: it wants its listener first. Several instances of one group need several names. */
    DefaultMQPushConsumer consumer(String group, String topic, String instance) throws Exception {
        DefaultMQPushConsumer consumer =
                new DefaultMQPushConsumer(null, group, null, new AllocateMessageQueueAveragely(), true, null);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeThreadMin(2);
        consumer.setConsumeThreadMax(2);
        consumer.subscribe(topic, "*");
        return consumer;
    }

    DefaultLitePullConsumer litePull(String group, String topic) throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(group);
        consumer.setEnableMsgTrace(true);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.start();
        return consumer;
    }

    static Message message(String topic, String tag, String keys, String body) {
        return new Message(topic, tag, keys, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Tells of a message that was sent, `what` being the case that it stands for. */
    static void tellSent(String what, String group, Message message, SendResult result) {
        String[] keys = message.getKeys() == null ? new String[0] : message.getKeys().split(" ");
        Truth.tell("sent", "case", what, "group", group, "topic", message.getTopic(), "keys", keys,
                "tag", message.getTags(), "message_id", result.getMsgId(), "offset_id", result.getOffsetMsgId());
    }
}
