import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/**
 * A made-up shop on RocketMQ: orders_raw -> order_cleaner -> orders_clean -> order_pricer -> orders_out, and the other
 * ways in which messages travel beside it. Ends by itself when everything that it sent came to its end.
 *
 * <p>Orders are order-000 and so on; their last digit decides what happens to them:
 *
 * <ul>
 *   <li>at order_cleaner: 3 fails once (later), 5 once (null), 9 once (exception), 7 always, until the dead-letter
 *       topic; 4 is dropped;
 *   <li>at order_pricer: 6 is sent on with its parent's id in the keys, 8 as the same message object.
 * </ul>
 *
 * <p>Arguments: name server, number of orders (20).
 */
public final class OrderTask {
    private static final long LIMIT_MS = 120_000;
    private static final int MAX_RETRIES = 2;
    /** Traces lie up to 5 s in a client before they are sent. */
    private static final long TRACE_FLUSH_MS = 6_500;

    private final Bus bus;
    private final int orders;
    /** What still has to happen, as "group key"; each listener strikes out what it has done. */
    private final Set<String> open = ConcurrentHashMap.newKeySet();
    private final List<AutoCloseable> clients = new ArrayList<>();

    private OrderTask(String nameServer, int orders) {
        this.bus = new Bus(nameServer);
        this.orders = orders;
    }

    public static void main(String[] args) throws Exception {
        int orders = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        boolean whole = new OrderTask(args[0], orders).run();
        System.out.flush();
        // Some of the clients' threads are no daemons.
        Runtime.getRuntime().halt(whole ? 0 : 1);
    }

    private boolean run() throws Exception {
        for (String topic : new String[] {"orders_raw", "orders_clean", "orders_out", "shop_carts"}) {
            bus.createTopic(topic, 4, "NORMAL");
        }
        bus.createTopic("shop_steps", 4, "FIFO");
        bus.createTopic("shop_payments", 4, "TRANSACTION");
        bus.createTopic("shop_reminders", 4, "DELAY");

        startCleaner();
        startPricer();
        startReaders();
        DefaultLitePullConsumer audit = bus.litePull("order_audit", "orders_out");
        clients.add(audit::shutdown);

        DefaultMQProducer source = bus.producer("shop_source");
        clients.add(source::shutdown);
        sendOrders(source);
        sendCarts(source);
        sendSteps(source);
        sendPayments();
        sendReminders(source);

        boolean whole = finish(audit);
        for (AutoCloseable client : clients) {
            client.close();
        }
        Truth.tell("end", "whole", whole, "open", open.toArray());
        return whole;
    }

    /** Waits until nothing is open, and the traces of it had time to leave. */
    private boolean finish(DefaultLitePullConsumer audit) throws InterruptedException {
        long limit = System.currentTimeMillis() + LIMIT_MS;
        while (!open.isEmpty() && System.currentTimeMillis() < limit) {
            for (MessageExt message : audit.poll(200)) {
                close("order_audit", message, "ok");
            }
        }
        Thread.sleep(TRACE_FLUSH_MS);
        return open.isEmpty();
    }

    private void expect(String group, String key) {
        open.add(group + " " + key);
    }

    private void close(String group, MessageExt message, String outcome) {
        tellConsumed(group, group, message, outcome);
        open.remove(group + " " + firstKey(message));
    }

    private static void tellConsumed(String group, String instance, MessageExt message, String outcome) {
        Truth.tell("consumed", "group", group, "instance", instance, "key", firstKey(message), "message_id",
                message.getMsgId(), "retry", message.getReconsumeTimes(), "outcome", outcome);
    }

    private static String firstKey(Message message) {
        String keys = message.getKeys();
        return keys == null ? "" : keys.split(" ")[0];
    }

    private static int lastDigit(Message message) {
        String key = firstKey(message);
        return key.charAt(key.length() - 1) - '0';
    }

    private void startCleaner() throws Exception {
        DefaultMQProducer out = bus.producer("order_cleaner_out");
        clients.add(out::shutdown);
        DefaultMQPushConsumer cleaner = bus.consumer("order_cleaner", "orders_raw", "order_cleaner");
        cleaner.setMaxReconsumeTimes(MAX_RETRIES);
        cleaner.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            // The first delay level: one second.
            context.setDelayLevelWhenNextConsume(1);
            return clean(messages.get(0), out);
        });
        cleaner.start();
        clients.add(cleaner::shutdown);
    }

    private ConsumeConcurrentlyStatus clean(MessageExt message, DefaultMQProducer out) {
        boolean first = message.getReconsumeTimes() == 0;
        int digit = lastDigit(message);
        if (digit == 7 || digit == 3 && first) {
            tellConsumed("order_cleaner", "order_cleaner", message, "later");
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        }
        if (digit == 5 && first) {
            tellConsumed("order_cleaner", "order_cleaner", message, "null");
            return null;
        }
        if (digit == 9 && first) {
            tellConsumed("order_cleaner", "order_cleaner", message, "exception");
            throw new IllegalStateException("no price for " + firstKey(message));
        }
        if (digit != 4) {
            send("cleaned", out, "order_cleaner_out",
                    Bus.message("orders_clean", "clean", message.getKeys(), text(message) + " cleaned"));
        }
        close("order_cleaner", message, digit == 4 ? "dropped" : "ok");
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }

    private void startPricer() throws Exception {
        DefaultMQProducer out = bus.producer("order_pricer_out");
        clients.add(out::shutdown);
        DefaultMQPushConsumer pricer = bus.consumer("order_pricer", "orders_clean", "order_pricer");
        pricer.setConsumeMessageBatchMaxSize(4);
        pricer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                price(message, out);
                close("order_pricer", message, "ok");
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        pricer.start();
        clients.add(pricer::shutdown);
    }

    private void price(MessageExt message, DefaultMQProducer out) {
        if (lastDigit(message) == 8) {
            message.setTopic("orders_out");
            send("forwarded", out, "order_pricer_out", message);
            return;
        }
        boolean named = lastDigit(message) == 6;
        String keys = named ? message.getKeys() + " ~p=" + message.getMsgId() : message.getKeys();
        send(named ? "parent token" : "priced", out, "order_pricer_out",
                Bus.message("orders_out", "priced", keys, text(message) + " priced"));
    }

    /** A sink, a broadcasting group of two instances, and the groups of the other topics. */
    private void startReaders() throws Exception {
        startReader("order_sink", "orders_out", "order_sink", MessageModel.CLUSTERING);
        startReader("order_watch", "orders_out", "order_watch-1", MessageModel.BROADCASTING);
        startReader("order_watch", "orders_out", "order_watch-2", MessageModel.BROADCASTING);
        startReader("cart_reader", "shop_carts", "cart_reader", MessageModel.CLUSTERING);
        startReader("payment_reader", "shop_payments", "payment_reader", MessageModel.CLUSTERING);
        startReader("reminder_reader", "shop_reminders", "reminder_reader", MessageModel.CLUSTERING);
        startReader("dead_reader", "%DLQ%order_cleaner", "dead_reader", MessageModel.CLUSTERING);

        DefaultMQPushConsumer steps = bus.consumer("step_reader", "shop_steps", "step_reader");
        AtomicBoolean suspended = new AtomicBoolean();
        steps.setConsumeMessageBatchMaxSize(1);
        steps.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            MessageExt message = messages.get(0);
            if (firstKey(message).equals("step-1") && suspended.compareAndSet(false, true)) {
                context.setSuspendCurrentQueueTimeMillis(800);
                tellConsumed("step_reader", "step_reader", message, "suspended");
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
            }
            close("step_reader", message, "ok");
            return ConsumeOrderlyStatus.SUCCESS;
        });
        steps.start();
        clients.add(steps::shutdown);
    }

    private void startReader(String group, String topic, String instance, MessageModel model) throws Exception {
        DefaultMQPushConsumer reader = bus.consumer(group, topic, instance);
        reader.setMessageModel(model);
        reader.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                if (group.equals("dead_reader")) {
                    Truth.tell("dead", "group", "order_cleaner", "key", firstKey(message), "message_id",
                            message.getProperty("UNIQ_KEY"));
                } else {
                    tellConsumed(group, instance, message, "ok");
                }
                open.remove(instance + " " + firstKey(message));
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        reader.start();
        clients.add(reader::shutdown);
    }

    private void sendOrders(DefaultMQProducer source) {
        for (int i = 0; i < orders; i++) {
            String key = String.format("order-%03d", i);
            int digit = i % 10;
            if (digit == 7) {
                expect("dead_reader", key);
            } else {
                expect("order_cleaner", key);
            }
            if (digit != 7 && digit != 4) {
                for (String reader : List.of("order_pricer", "order_sink", "order_watch-1", "order_watch-2", "order_audit")) {
                    expect(reader, key);
                }
            }
        }
        for (int i = 0; i < orders; i++) {
            String key = String.format("order-%03d", i);
            send("order", source, "shop_source",
                    Bus.message("orders_raw", i % 2 == 0 ? "web" : "shop", key, "{\"order\":" + i + "}"));
        }
    }

    /** A batch, a message with several keys, and one without any. */
    private void sendCarts(DefaultMQProducer source) throws Exception {
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            expect("cart_reader", "cart-" + i);
            batch.add(Bus.message("shop_carts", "batch", "cart-" + i, "cart " + i));
        }
        SendResult result = source.send(batch);
        String[] ids = result.getMsgId().split(",");
        String[] offsetIds = result.getOffsetMsgId().split(",");
        for (int i = 0; i < batch.size(); i++) {
            Truth.tell("sent", "case", "batch", "group", "shop_source", "topic", "shop_carts", "keys",
                    new String[] {"cart-" + i}, "tag", "batch", "message_id", ids[i], "offset_id",
                    offsetIds.length == ids.length ? offsetIds[i] : null, "batch", ids);
        }

        expect("cart_reader", "cart-a");
        Message several = new Message("shop_carts", "several", text("three carts in one"));
        several.setKeys(Arrays.asList("cart-a", "cart-b", "cart-c"));
        send("several keys", source, "shop_source", several);

        expect("cart_reader", "");
        send("no key", source, "shop_source", new Message("shop_carts", text("neither key nor tag")));
    }

    private void sendSteps(DefaultMQProducer source) throws Exception {
        for (int i = 0; i < 8; i++) {
            int queue = i % 2;
            Message step = Bus.message("shop_steps", "step", "step-" + i, "step " + i);
            expect("step_reader", "step-" + i);
            SendResult result = source.send(step, (queues, message, chosen) -> queues.get(queue), null);
            Bus.tellSent("ordered", "shop_source", step, result);
        }
    }

    private void sendPayments() throws Exception {
        TransactionMQProducer till = bus.transactionProducer("shop_till");
        till.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object state) {
                return (LocalTransactionState) state;
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                Truth.tell("transaction", "key", firstKey(message), "state", "commit", "checked", true);
                return LocalTransactionState.COMMIT_MESSAGE;
            }
        });
        till.start();
        clients.add(till::shutdown);
        pay(till, "pay-commit", LocalTransactionState.COMMIT_MESSAGE, "commit");
        pay(till, "pay-rollback", LocalTransactionState.ROLLBACK_MESSAGE, "rollback");
        pay(till, "pay-checked", LocalTransactionState.UNKNOW, "unknown");
    }

    private void pay(TransactionMQProducer till, String key, LocalTransactionState state, String name) throws Exception {
        if (state != LocalTransactionState.ROLLBACK_MESSAGE) {
            expect("payment_reader", key);
        }
        Message payment = Bus.message("shop_payments", "pay", key, "payment");
        SendResult result = till.sendMessageInTransaction(payment, state);
        Bus.tellSent("transaction", "shop_till", payment, result);
        Truth.tell("transaction", "key", key, "state", name, "checked", false);
    }

    private void sendReminders(DefaultMQProducer source) throws Exception {
        Message level = Bus.message("shop_reminders", "soon", "remind-level", "in five seconds");
        level.setDelayTimeLevel(2);
        expect("reminder_reader", "remind-level");
        send("delay level", source, "shop_source", level);

        Message timer = Bus.message("shop_reminders", "soon", "remind-timer", "in four seconds");
        timer.setDelayTimeMs(4_000);
        expect("reminder_reader", "remind-timer");
        send("timer", source, "shop_source", timer);

        Message recalled = Bus.message("shop_reminders", "never", "remind-recalled", "in ten minutes, or not");
        recalled.setDelayTimeMs(600_000);
        SendResult result = source.send(recalled);
        Bus.tellSent("recalled", "shop_source", recalled, result);
        String id = source.recallMessage("shop_reminders", result.getRecallHandle());
        Truth.tell("recalled", "key", "remind-recalled", "message_id", id);
    }

    private static void send(String what, DefaultMQProducer producer, String group, Message message) {
        try {
            Bus.tellSent(what, group, message, producer.send(message));
        } catch (Exception e) {
            throw new IllegalStateException("cannot send " + message.getKeys() + " to " + message.getTopic(), e);
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Message message) {
        return new String(message.getBody(), StandardCharsets.UTF_8);
    }
}
