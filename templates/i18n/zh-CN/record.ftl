record-title = 记录
record-question = 这条记录在哪里？
record-placeholder = 记录 Key、消息 ID 或 Offset 消息 ID
record-look-up = 查找
record-takes = 可输入记录 Key（消息 KEYS 之一）、任意客户端的消息 ID 或 Offset 消息 ID；页面会说明按哪一种理解。
record-too-long = 文本过长，不可能是 Key
record-nothing-asked = 没有给出 Key 或 ID
record-recent = 最近的轨迹
record-recent-note = 最新发送的消息的 Key
record-store-silent = 轨迹存储没有应答
record-key = Key
record-topic = 主题
record-when = 时间
record-group = 组
record-groups = 消费组
record-result = 结果
record-waited = 等待
record-worked = 处理
record-try = 次数
record-evidence = 依据
record-client = 客户端
record-sender = 生产者
record-messages = 消息
record-first-message = 首条消息
record-views = 本记录的视图
record-flow = 流向
record-raw = 原始轨迹
record-raw-note = 与轨迹主题中一致
record-only = 仅显示从此消息开始的记录
record-all = 使用此 Key 的全部记录
record-n-messages = { $n } 条消息
record-n-groups = { $n } 个组
record-unnamed-group = 未知的组
record-unnamed-topic = 未知的主题

record-is-key = 记录 Key
record-is-uniq = 消息 ID，来自 { $address}，进程 { $pid }
record-is-offset = Offset 消息 ID：{ $address } 的 { $offset }
record-is-grpc = gRPC 客户端消息 ID，来自 { $mac }，进程 { $pid }

record-says-not-found = 没有找到 { $text }
record-says-complete = { $at ->
    [none] 应收到的 { $groups } 个消费组都已收到。
   *[other] 应收到的 { $groups } 个消费组都已收到，最后一个于 { $at }。
}
record-says-traced-ok = { $at ->
    [none] 有轨迹的投递全部成功：{ $groups } 个消费组已收到。
   *[other] 有轨迹的投递全部成功：{ $groups } 个消费组已收到，最后一个于 { $at }。
}
record-says-published = { $at ->
    [none] 位于 { $topic }；没有已知的消费者。
   *[other] 自 { $at } 起位于 { $topic }；没有已知的消费者。
}
record-says-dead = 停在 { $group }：失败 { $tries } 次，自 { $at } 起进入死信。
record-says-dead-untraced = 停在 { $group }：自 { $at } 起进入死信。
record-says-used-up = 停在 { $group }：失败 { $tries } 次，重试已用尽。
record-says-failed = 停在 { $group }：失败 { $tries } 次，到期的重试没有发生。
record-says-retrying = { $group } 已失败 { $tries } 次，将再次重试。
record-says-retrying-due = { $group } 已失败 { $tries } 次，将于 { $at } 重试。
record-says-retrying-overdue = { $group } 已失败 { $tries } 次；下次重试本应在 { $at }。
record-says-missing = { $group } 没有收到，本应不晚于 { $at } 收到。
record-says-dropped = 在 { $group } 处丢失：它收到了记录，却没有产出。
record-says-working = { $at ->
    [none] { $group } 正在处理。
   *[other] { $group } 自 { $at } 起正在处理。
}
record-says-waiting = 等待 { $group } 消费。
record-says-rolled-back = { $at ->
    [none] 发往 { $topic } 的事务已回滚，不会被投递。
   *[other] 发往 { $topic } 的事务已于 { $at } 回滚，不会被投递。
}
record-says-transaction-open = 发往 { $topic } 的事务尚未提交，提交前不会被投递。
record-says-recalled = { $at ->
    [none] 发往 { $topic } 的延时消息已撤回，不会被投递。
   *[other] 发往 { $topic } 的延时消息已于 { $at } 撤回，不会被投递。
}
record-says-unknown = 它在 { $group } 的结果未知。
record-says-many = 有 { $n } 条记录使用 Key { $text }
record-next-many = 请在下方选择一条：每条记录各有自己的流向。
record-next-published = 不产生轨迹、也没有该主题位点的消费者是看不到的。
record-next-dead = 下一步：查看死信和该客户端当时的日志，修复算子后重新发送该记录。
record-next-failed = 下一步：确认该消费组是否在线，并查看当时的日志。
record-next-retrying = RocketMQ 会自行重新投递。时间按默认的重试间隔计算，客户端可能另有要求。
record-next-missing = 轨迹已全部读取，且该组有其他消息的轨迹。下一步：比对它的订阅与位点。
record-next-dropped = 该组的其他消息都会进入下一个主题。下一步：在它的日志里查找此 Key。
record-next-transaction = Broker 会继续回查生产者，直到提交或回滚。
record-took = 从首次发送到最后结束：{ $took }
record-one-not-told = { $group } 是否收到未知
record-some-not-told = { $group } 及另外 { $n } 个组是否收到未知
record-reached = { $of } 个消费组中有 { $reached } 个已收到
record-last-outcome = 最后一次：{ $outcome }，{ $host }，{ $at }
record-ahead = 队列中它前面还有 { $n } 条消息
record-truncated = 使用此文本的轨迹多于查看的数量；显示的是最新的部分。
record-behind-unknown = 采集进度未知：可能缺少最新的环节。

record-waiting = 等待中
record-consuming = 处理中
record-consumed = 已消费
record-passed = 位点已越过
record-retrying = 待重试（{ $tries }）
record-failed = 失败（{ $tries }）
record-dead = 死信
record-dead-after = { $tries } 次后成为死信
record-missing = 缺失
record-not-known = 未知
record-not-expected = 无需消费
record-not-consumed = 未消费
record-sent = 已发送
record-sent-unsafe = 已存储，尚未落盘或同步
record-sent-at = 发送于 { $at }
record-send-not-traced = 发送无轨迹
record-end-not-traced = 结束无轨迹
record-nth-try = 第 { $n } 次
record-next-try = 下次 { $at }
record-topic-unsure = 主题不能确定
record-since = 自 { $at }
record-batch = { $n } 条批量
record-recalled = 已撤回
record-recalled-at = 撤回于 { $at }
record-kind = 类型
record-kind-transaction = 事务
record-kind-delay = 延时
record-kind-order = 顺序
record-tx-half = 半消息
record-tx-committed = 已提交
record-tx-rolled-back = 已回滚
record-tx-undecided = 未决
record-tx-checked = Broker 回查

record-why-not-traced = 没有轨迹，位点也不能说明
record-why-ingest-behind = 采集尚未读到那里
record-why-end-not-traced = 投递的结束没有轨迹
record-why-group-not-traced = 轨迹中没有组名
record-why-group-offline = 该组没有在线的客户端
record-why-broadcasting = 广播消费的位点保存在客户端
record-why-pop = POP 消费逐条确认；位点只表明消息已被取走
record-why-filtered = 标签不在订阅中
record-why-rolled-back = 事务已回滚
record-why-transaction-open = 事务尚未提交
record-why-recalled = 消息已撤回
record-why-delayed = 延时消息；轨迹中没有投递时间
record-why-publication-not-traced = 发送没有轨迹

record-by-trace = 轨迹
record-by-topic = 主题中找到
record-by-child = 由下游得知
record-by-offset = 由位点推断
record-absent = 没有
record-from = 来自 { $group }：{ $confidence }（{ $score }），{ $rule }
record-exact = 确定
record-certain = 几乎确定
record-high = 很可能
record-medium = 可能
record-low = 猜测
record-rule-token = Key 中写明了上游
record-rule-object = 同一消息被转发
record-rule-process-key = 进程、时间与 Key 相同
record-rule-process = 进程与时间相同
record-rule-names = Key 相同且组名相关
record-rule-later = Key 相同、时间更晚
record-outcome-success = 成功
record-outcome-timeout = 超过消费超时
record-outcome-exception = 异常
record-outcome-null = 返回 null
record-outcome-failed = 失败
record-outcome-other = 代码 { $code }

record-findings = 发现
record-finds-missing = 未投递，应不晚于 { $at }
record-finds-failed = 失败 { $tries } 次；没有再次重试
record-finds-retrying = 失败 { $tries } 次；将再次重试
record-finds-retrying-due = 失败 { $tries } 次；下次重试 { $at }
record-finds-dead-since = 自 { $at } 起在死信中
record-finds-dead = 失败 { $tries } 次：重试已用尽
record-finds-late = 用时 { $took }，上限为 { $limit }
record-finds-again = 成功后又投递 { $times } 次。广播消费组中每个客户端各收一次，属正常。
record-finds-sent-again = 相同内容发送了 { $times } 次
record-finds-order = 同一 Key 中较晚的消息先被处理
record-finds-timeout = 超过消费超时
record-finds-timeout-after = 超过消费超时：{ $worked }
record-finds-stuck = 已处理 { $age }，远超消费超时
record-passed-nothing-on = 没有产出
record-finds-dropped = 收到了记录，却没有产出
record-finds-orphan = 已消费，但发送没有轨迹
record-finds-slow-clock = { $host } 的时钟比 Broker 慢 { $offset }；时间已校正
record-finds-fast-clock = { $host } 的时钟比 Broker 快 { $offset }；时间已校正
record-finds-negative = 校正后仍比发送早 { $by } 开始
record-finds-stored = 一次发送在主题中存了 { $times } 份

record-span = { $begin } – { $end } · { $zone }
record-drawing = { $text } 的流向；下方表格有相同内容
record-waterfall = 时间线
record-waterfall-of = { $text } 的时间线；下方表格有相同内容
record-legend-done = 已通过
record-legend-failed = 失败
record-legend-open = 尚未发生或未知
record-legend-open-or-guess = 尚未发生、未知，或多个候选之一
record-legend-wait = 等待
record-legend-work = 处理
record-left-out = 另有 { $n } 条消息未画出
record-rows-left-out = 另有 { $n } 行未显示
record-row-sent = { $name } 发送
record-row-try = { $name } · 第 { $n } 次
record-row-dead = { $name } · 死信
record-row-after = { $name }，第 { $n } 次，距上一次 { $after }
record-cut = 略去 { $skipped } 的空闲
record-hops = 环节
record-hops-note = 每次发送、投递与死信，以及如何得知

record-strands = 有 { $n } 条记录使用此 Key
record-strands-note = 最新在前

record-searched-since = 查找了 { $since } 以来的 { $n } 段轨迹
record-searched-nothing = 尚未保存任何轨迹
record-ingest-behind = 采集读取 { $queues } 个队列，落后 { $behind }
record-ingest-unknown = 本进程采集 { $queues } 个队列，落后多少未知
record-brokers-asked = Broker 应答了 { $asked } 个问题中的 { $answered } 个
record-topics-searched = 按 Key 与 ID 查找了 { $n } 个主题
record-topics-left-out = 另有 { $n } 个主题未查找
record-reasons = 可能的原因
record-reasons-note = 最可能的在前
record-to-ingest = 采集
record-no-trace-topic = 消息轨迹未开启：没有 Broker 拥有轨迹主题
record-trace-refused = { $brokers } 不允许读取轨迹 Topic：{ $why }
record-trace-refused-way = 请为账号授予读权限（SUB），并将该 Topic 权限设为 6。
record-no-trace-topic-way = 在 Broker 上设置 traceTopicEnable=true，或在配置中写明轨迹主题，并在客户端开启轨迹。
record-ingest-stopped = 采集已停止
record-ingest-degraded = 采集只部分进行：{ $why }
record-ingest-stopped-way = 它的轨迹可能在轨迹主题中，尚未读取。
record-ingest-late = 采集落后 { $behind }
record-ingest-late-way = 它的轨迹可能尚未读取；本页会自动更新。
record-not-kept = 轨迹自 { $since } 起保存
record-not-kept-way = 更早的轨迹已不存在。
record-nothing-ingested = 尚未读到任何轨迹
record-nothing-ingested-way = 客户端开启轨迹且采集运行后，即可查找记录。
record-store-damaged = 保存的轨迹有 { $n } 部分无法读取
record-store-damaged-way = 记录可能在其中；上方列出了它们。
record-topics-missed = 有 { $n } 次主题查找失败
record-topics-missed-way = 记录可能在那里；上方列出了原因。
record-key-nowhere = { $topics } 个主题中没有消息带有此 Key
record-key-nowhere-way = 可能写法不同（区分大小写），或生产者没有设置 KEYS。可改用消息 ID 查找。
record-id-nowhere = { $topics } 个主题中没有消息带有此 ID
record-id-nowhere-way = 可能属于其他集群，或已在 Broker 上过期。
record-no-traces = 没有轨迹
record-no-traces-why = 所示内容来自 Broker：它的生产者与消费者不产生轨迹。
record-entry = 条目
record-about = 主题或组
record-message-id = 消息 ID
record-offset-id = Offset 消息 ID
record-place = Broker 队列/位点:条目
record-stored = 存储于
record-keys = Key
record-no-keys = 无
record-parents = 上游
record-tags = 标签
record-body-length = 消息体
record-lies-at = 位置
record-batch-of = 批量
