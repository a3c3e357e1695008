"""Django's PostgreSQL, with connections that the threads of a process that serves share."""
