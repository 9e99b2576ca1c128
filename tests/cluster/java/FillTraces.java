import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/**
 * Fills the trace topic, for measuring ingest on a real broker. Made-up orders with three trace records each
 * (published, delivery begun, delivery ended); ten records a trace message, as Java clients write them.
 *
 * <p>Arguments: name server, number of records (1,000,000), number of the first order (0).
 */
public final class FillTraces {
    private static final String TOPIC = "RMQ_SYS_TRACE_TOPIC";
    private static final int RECORDS_A_MESSAGE = 10;
    private static final int MESSAGES_A_SEND = 120;
    private static final int SENDERS = 2;
    private static final char FIELD = '\u0001';
    private static final char RECORD = '\u0002';

    private FillTraces() {}

    public static void main(String[] args) throws Exception {
        long records = args.length > 1 ? Long.parseLong(args[1]) : 1_000_000;
        long first = args.length > 2 ? Long.parseLong(args[2]) : 0;
        DefaultMQProducer producer = new DefaultMQProducer("_INNER_TRACE_PRODUCER-shop-CONSUME-1");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(20_000);
        producer.start();

        // A round is ten orders: three trace messages.
        long rounds = (records + 3 * RECORDS_A_MESSAGE - 1) / (3 * RECORDS_A_MESSAGE);
        AtomicLong next = new AtomicLong();
        AtomicLong written = new AtomicLong();
        long began = System.nanoTime();
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            Thread sender = new Thread(() -> send(producer, next, rounds, first, written));
            sender.start();
            senders.add(sender);
        }
        for (Thread sender : senders) {
            sender.join();
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        Truth.tell("filled", "records", written.get(), "messages", written.get() / RECORDS_A_MESSAGE, "first_order",
                first, "orders", rounds * RECORDS_A_MESSAGE, "seconds", seconds, "records_per_second",
                Math.round(written.get() / seconds));
        Runtime.getRuntime().halt(written.get() >= records ? 0 : 1);
    }

    private static void send(DefaultMQProducer producer, AtomicLong next, long rounds, long first, AtomicLong written) {
        int step = MESSAGES_A_SEND / 3;
        for (long round = next.getAndAdd(step); round < rounds; round = next.getAndAdd(step)) {
            List<Message> batch = new ArrayList<>(MESSAGES_A_SEND);
            for (long each = round; each < Math.min(round + step, rounds); each++) {
                addRound(batch, first + each * RECORDS_A_MESSAGE);
            }
            try {
                producer.send(batch);
            } catch (Exception e) {
                e.printStackTrace();
                return;
            }
            written.addAndGet((long) batch.size() * RECORDS_A_MESSAGE);
        }
    }

    /** Ten orders from `order` on: their publications, the beginnings of their deliveries, and the ends. */
    private static void addRound(List<Message> batch, long order) {
        long now = System.currentTimeMillis();
        StringBuilder published = new StringBuilder(2400);
        StringBuilder begun = new StringBuilder(1700);
        StringBuilder ended = new StringBuilder(1700);
        StringBuilder keys = new StringBuilder(600);
        for (long each = order; each < order + RECORDS_A_MESSAGE; each++) {
            String key = String.format("load-%09d", each);
            String id = String.format("C000020700501A2B3C4D%08X%04X", each / 20, each % 65_536);
            String request = String.format("C000020900501A2B3C4D%08X%04X", each / 20, each % 65_536);
            String offset = String.format("C000020100002A9F%016X", each * 431);
            add(published, "Pub", now, "DefaultRegion", "shop_source", "orders_raw", id, "web", key, "192.0.2.1:10911",
                    200 + each % 300, each % 9, 0, offset, true);
            add(begun, "SubBefore", now + 7, "DefaultRegion", "order_cleaner", request, id, 0, key);
            add(ended, "SubAfter", request, id, each % 40, true, key, 0, now + 7 + each % 40, "order_cleaner");
            keys.append(id).append(' ').append(key).append(' ');
        }
        for (StringBuilder body : new StringBuilder[] {published, begun, ended}) {
            batch.add(new Message(TOPIC, null, keys.toString().trim(), body.toString().getBytes(StandardCharsets.UTF_8)));
        }
    }

    private static void add(StringBuilder body, Object... fields) {
        for (int i = 0; i < fields.length; i++) {
            if (i > 0) {
                body.append(FIELD);
            }
            body.append(fields[i]);
        }
        body.append(RECORD);
    }
}
