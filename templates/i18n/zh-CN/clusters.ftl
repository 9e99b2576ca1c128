clusters-title = 集群
clusters-none = 尚未配置集群
clusters-none-way = 请在配置文件、环境变量或命令行中写明集群，然后重新启动。
