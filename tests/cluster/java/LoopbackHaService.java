import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.ha.DefaultHAService;

/** Replication that listens on 127.0.0.1 only: the broker has no setting for that address. */
public class LoopbackHaService extends DefaultHAService {
    @Override
    public void init(DefaultMessageStore store) throws IOException {
        super.init(store);
        try {
            Field address = acceptSocketService.getClass().getSuperclass().getDeclaredField("socketAddressListen");
            address.setAccessible(true);
            int port = store.getMessageStoreConfig().getHaListenPort();
            address.set(acceptSocketService, new InetSocketAddress("127.0.0.1", port));
        } catch (ReflectiveOperationException e) {
            throw new IOException("the replication port cannot be bound to 127.0.0.1", e);
        }
    }
}
