import com.alibaba.fastjson2.JSON;
import java.util.LinkedHashMap;
import java.util.Map;

/** What really happened, one JSON object a line on standard output; tests compare what Millrace says with it. */
final class Truth {
    private Truth() {}

    static synchronized void tell(String event, Object... namesAndValues) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            line.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        System.out.println(JSON.toJSONString(line));
    }
}
