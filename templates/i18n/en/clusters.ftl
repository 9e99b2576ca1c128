clusters-title = Clusters
clusters-none = No cluster is configured
clusters-none-way = Name one in the configuration file, in the environment or on the command line, and start again.
