# 为何未知
why-not-read-yet = 尚未读取
why-one-reading = 目前只读取过一次
why-went-back = 位点回退了
why-never-committed = 消费组在此处没有提交过位点
why-not-listed = 已没有 NameServer 登记它
why-not-told = Broker 未提供
why-no-such-address = 本集群没有使用该地址的 Broker
why-no-name-server = 没有 NameServer 应答（{ $detail }）
why-unreachable = { $address } 无法连接：{ $detail }
why-timed-out = { $address } 在 { $millis } 毫秒内没有应答
why-no-such-broker = 本集群没有 Broker { $broker }
why-not-there = { $what } 不存在
why-not-permitted = { $address } 拒绝：{ $remark }
why-answered = { $address } 返回代码 { $code }：{ $remark }
why-not-readable = Topic { $topic } 在那里没有读权限
why-left-out = 共 { $all } 个，只查询了 { $asked } 个
why-said = { $text }
