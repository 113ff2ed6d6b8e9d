// The types of the API, made from its contract by `npm run api-types`. Do not change them by hand.

export interface paths {
    "/v1/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and configuration of instances
         * @description Without identifiers all instances are returned, and their entries have no `status`. Needs a token with the scope `read`.
         */
        get: operations["getInstances"];
        put?: never;
        /**
         * Create instances
         * @description Creates one instance with its replicas per object of the body. With `autostart` the instances are started, and with `wait_timeout_ms` the answer waits until they run. Needs a token with the scope `operate`.
         */
        post: operations["createInstances"];
        /**
         * Delete instances
         * @description A running instance is stopped by force. The identifiers are invalid and the name is free at once. Needs a token with the scope `operate`.
         */
        delete: operations["deleteInstances"];
        options?: never;
        head?: never;
        /**
         * Change instances
         * @description What is left out stays as it is. Restart policy, features, scale-to-zero and tags change at once. Image, arguments, environment, memory and processors change at once where the instance is stopped or sleeps without memory; else `needs_restart` names those that wait for the next start, and `restart` brings them about now: what runs is restarted, and the kept memory of what sleeps is dropped. All changes of one instance in a request take effect together. Needs a token with the scope `operate`.
         */
        patch: operations["updateInstances"];
        trace?: never;
    };
    "/v1/instances/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and configuration of instances
         * @description Without identifiers all instances are returned, and their entries have no `status`. Needs a token with the scope `read`.
         */
        get: operations["getInstancesLocal"];
        put?: never;
        post?: never;
        /**
         * Delete instances
         * @description A running instance is stopped by force. The identifiers are invalid and the name is free at once. Needs a token with the scope `operate`.
         */
        delete: operations["deleteInstancesLocal"];
        options?: never;
        head?: never;
        /**
         * Change instances
         * @description What is left out stays as it is. Restart policy, features, scale-to-zero and tags change at once. Image, arguments, environment, memory and processors change at once where the instance is stopped or sleeps without memory; else `needs_restart` names those that wait for the next start, and `restart` brings them about now: what runs is restarted, and the kept memory of what sleeps is dropped. All changes of one instance in a request take effect together. Needs a token with the scope `operate`.
         */
        patch: operations["updateInstancesLocal"];
        trace?: never;
    };
    "/v1/instances/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List instances
         * @description An array of filters selects instances in any of the states. Needs a token with the scope `read`.
         */
        get: operations["listInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Start instances
         * @description Ends a restart sequence. Nothing happens to an instance that runs already. Needs a token with the scope `operate`.
         */
        put: operations["startInstances"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Start instances
         * @description Ends a restart sequence. Nothing happens to an instance that runs already. Needs a token with the scope `operate`.
         */
        put: operations["startInstancesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Stop instances
         * @description Does not block: wait for the state `stopped`. Ends a restart sequence. Needs a token with the scope `operate`.
         */
        put: operations["stopInstances"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Stop instances
         * @description Does not block: wait for the state `stopped`. Ends a restart sequence. Needs a token with the scope `operate`.
         */
        put: operations["stopInstancesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Suspend instances
         * @description Sends instances to standby now, with their memory, whatever their scale-to-zero policy says. Does not block: wait for the state `standby`. Requests in flight may end first; others wait, and wake the instance. A start and traffic wake it. Nothing happens to an instance that sleeps already; one that starts is suspended once it runs. Needs a token with the scope `operate`.
         */
        put: operations["suspendInstances"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Suspend instances
         * @description Sends instances to standby now, with their memory, whatever their scale-to-zero policy says. Does not block: wait for the state `standby`. Requests in flight may end first; others wait, and wake the instance. A start and traffic wake it. Nothing happens to an instance that sleeps already; one that starts is suspended once it runs. Needs a token with the scope `operate`.
         */
        put: operations["suspendInstancesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move instances to another host
         * @description For administrators, who name instances of other accounts by UUID. To any other account it looks as if there were no hosts. An instance that runs sleeps meanwhile, and runs on with its memory; its addresses stay. Nothing happens to one that is there already, or on its way there. A volume moves with it. Needs a token with all rights.
         */
        put: operations["moveInstances"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Move instances to another host
         * @description For administrators, who name instances of other accounts by UUID. To any other account it looks as if there were no hosts. An instance that runs sleeps meanwhile, and runs on with its memory; its addresses stay. Nothing happens to one that is there already, or on its way there. A volume moves with it. Needs a token with all rights.
         */
        put: operations["moveInstancesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait for a state
         * @description Blocks until every named instance is in its state, or until the timeout. Three forms: `uuid` or `name` with `timeout_ms`; `ids` with a `state` each and one `timeout_ms`; an array whose items carry `state` and `timeout_ms`. Needs a token with the scope `read`.
         */
        get: operations["waitInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait for a state
         * @description Blocks until every named instance is in its state, or until the timeout. Three forms: `uuid` or `name` with `timeout_ms`; `ids` with a `state` each and one `timeout_ms`; an array whose items carry `state` and `timeout_ms`. Needs a token with the scope `read`.
         */
        get: operations["waitInstancesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Console log
         * @description Returns the intersection of the wanted window with what is kept. Offsets count from the first byte that the instance ever printed and stay true when old output is dropped. Ends are exclusive. With `follow` the answer is a stream that goes on with what the instance prints: events of the type `log` with one entry as data, and the end of its `range` as id. `Last-Event-ID` counts before `offset`. An event of the type `gap` says that bytes were dropped before they were sent, and one of the type `end` that the instance is deleted. Needs a token with the scope `read`.
         */
        get: operations["getInstanceLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Console log
         * @description Returns the intersection of the wanted window with what is kept. Offsets count from the first byte that the instance ever printed and stay true when old output is dropped. Ends are exclusive. With `follow` the answer is a stream that goes on with what the instance prints: events of the type `log` with one entry as data, and the end of its `range` as id. `Last-Event-ID` counts before `offset`. An event of the type `gap` says that bytes were dropped before they were sent, and one of the type `end` that the instance is deleted. Needs a token with the scope `read`.
         */
        get: operations["getInstanceLogsLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run a program in an instance
         * @description Upgrades to a WebSocket for one program, beside the application and with its user, directory and environment. The client's first message is JSON: `type` `run`, `argv`, and with `terminal` (`rows`, `columns`) a terminal. Binary messages carry bytes after one byte for the stream: 0 input, 1 output, 2 error output. Further messages of the client are of the types `resize`, `signal` and `end_of_input`, those of the host `started`, `exit` and `failed`. A sleeping instance is woken, and stays awake until the program ends. The program ends with its connection. Needs a token with the scope `operate`.
         */
        get: operations["execInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run a program in an instance
         * @description Upgrades to a WebSocket for one program, beside the application and with its user, directory and environment. The client's first message is JSON: `type` `run`, `argv`, and with `terminal` (`rows`, `columns`) a terminal. Binary messages carry bytes after one byte for the stream: 0 input, 1 output, 2 error output. Further messages of the client are of the types `resize`, `signal` and `end_of_input`, those of the host `started`, `exit` and `failed`. A sleeping instance is woken, and stays awake until the program ends. The program ends with its connection. Needs a token with the scope `operate`.
         */
        get: operations["execInstancesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Copy files from or to an instance
         * @description Upgrades to a WebSocket for one copy, with the rights of the application. The first message is JSON: `type` `pack` and `path` to get a tar archive of a file or directory, or `unpack` and `path` to send one. With `follow` a symbolic link is followed; with `extract` all entries go below the path; with `owners` the numbers of the owners are kept. Streams and further messages are those of `exec`. An exit code that is not 0 says that something was not copied, and the error output says what. Needs a token with the scope `operate`.
         */
        get: operations["archiveInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Copy files from or to an instance
         * @description Upgrades to a WebSocket for one copy, with the rights of the application. The first message is JSON: `type` `pack` and `path` to get a tar archive of a file or directory, or `unpack` and `path` to send one. With `follow` a symbolic link is followed; with `extract` all entries go below the path; with `owners` the numbers of the owners are kept. Streams and further messages are those of `exec`. An exit code that is not 0 says that something was not copied, and the error output says what. Needs a token with the scope `operate`.
         */
        get: operations["archiveInstancesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect to a port in an instance
         * @description Upgrades to a WebSocket for one TCP connection to a port at which the application listens, be it at the loopback address or at its own. The first message is JSON: `type` `connect` and `port`. Binary messages carry bytes after one byte for the stream: 0 to the application, 1 from it. `end_of_input` and `output_ended` end one direction. A sleeping instance is woken, and stays awake until the connection ends. Needs a token with the scope `operate`.
         */
        get: operations["connectInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect to a port in an instance
         * @description Upgrades to a WebSocket for one TCP connection to a port at which the application listens, be it at the loopback address or at its own. The first message is JSON: `type` `connect` and `port`. Binary messages carry bytes after one byte for the stream: 0 to the application, 1 from it. `end_of_input` and `output_ended` end one direction. A sleeping instance is woken, and stays awake until the connection ends. Needs a token with the scope `operate`.
         */
        get: operations["connectInstancesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of instances
         * @description JSON with the request header `Accept: application/json`, otherwise the Prometheus text format. Needs a token with the scope `metrics`.
         */
        get: operations["getInstanceMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of instances
         * @description JSON with the request header `Accept: application/json`, otherwise the Prometheus text format. Needs a token with the scope `metrics`.
         */
        get: operations["getInstanceMetricsLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of usage
         * @description What instances used in each step of the last hour or of the last 30 days. It is kept on the host of the instance and ends with the instance. Needs a token with the scope `metrics`.
         */
        get: operations["getInstanceUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of usage
         * @description What instances used in each step of the last hour or of the last 30 days. It is kept on the host of the instance and ends with the instance. Needs a token with the scope `metrics`.
         */
        get: operations["getInstanceUsageLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain instances
         * @description Why an instance is awake, asleep or stopped, and what comes next. Its host is asked for what it knows, for at most a second. Needs a token with the scope `read`.
         */
        get: operations["explainInstances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instances/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain instances
         * @description Why an instance is awake, asleep or stopped, and what comes next. Its host is asked for what it knows, for at most a second. Needs a token with the scope `read`.
         */
        get: operations["explainInstancesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and configuration of services
         * @description Without identifiers all services are returned, and their entries have no `status`. Needs a token with the scope `read`.
         */
        get: operations["getServices"];
        put?: never;
        /**
         * Create services
         * @description Creates one service per object of the body. It stays until it is deleted. Needs a token with the scope `operate` that is not limited to services.
         */
        post: operations["createServices"];
        /**
         * Delete services
         * @description Fails while instances are attached. Name and domains are free at once; certificates of custom domains stay. Needs a token with the scope `operate`.
         */
        delete: operations["deleteServices"];
        options?: never;
        head?: never;
        /**
         * Change services
         * @description Changes ports, domains and limits, and touches no instance. Of one object, `clear` is done first, then what replaces, then `del`, then `add`. Several objects about one service are done in their order, all or none. Needs a token with the scope `operate`.
         */
        patch: operations["updateServices"];
        trace?: never;
    };
    "/v1/services/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and configuration of services
         * @description Without identifiers all services are returned, and their entries have no `status`. Needs a token with the scope `read`.
         */
        get: operations["getServicesLocal"];
        put?: never;
        post?: never;
        /**
         * Delete services
         * @description Fails while instances are attached. Name and domains are free at once; certificates of custom domains stay. Needs a token with the scope `operate`.
         */
        delete: operations["deleteServicesLocal"];
        options?: never;
        head?: never;
        /**
         * Change services
         * @description Changes ports, domains and limits, and touches no instance. Of one object, `clear` is done first, then what replaces, then `del`, then `add`. Several objects about one service are done in their order, all or none. Needs a token with the scope `operate`.
         */
        patch: operations["updateServicesLocal"];
        trace?: never;
    };
    "/v1/services/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services
         * @description All filters of one object must match; an array of objects selects services that match any of them. Needs a token with the scope `read`.
         */
        get: operations["listServices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain services
         * @description What a request to a service meets and why, and what comes next. Needs a token with the scope `read`.
         */
        get: operations["explainServices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain services
         * @description What a request to a service meets and why, and what comes next. Needs a token with the scope `read`.
         */
        get: operations["explainServicesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of services
         * @description Instances by state, and what the gateways counted since their start: requests, their durations, and wakes. JSON with the request header `Accept: application/json`, otherwise the Prometheus text format. Needs a token with the scope `metrics`.
         */
        get: operations["getServiceMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of services
         * @description Instances by state, and what the gateways counted since their start: requests, their durations, and wakes. JSON with the request header `Accept: application/json`, otherwise the Prometheus text format. Needs a token with the scope `metrics`.
         */
        get: operations["getServiceMetricsLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of usage of services
         * @description What all instances of a service used together in each step of the last hour or of the last 30 days, also those that are gone. It is kept on the hosts that have an instance of the service. Needs a token with the scope `metrics`.
         */
        get: operations["getServiceUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of usage of services
         * @description What all instances of a service used together in each step of the last hour or of the last 30 days, also those that are gone. It is kept on the hosts that have an instance of the service. Needs a token with the scope `metrics`.
         */
        get: operations["getServiceUsageLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/rollouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rollouts of services
         * @description The last rollouts of each service, the newest first. The last 50 are kept. Needs a token with the scope `read`.
         */
        get: operations["getRollouts"];
        put?: never;
        /**
         * Roll out a new version
         * @description Makes an instance of the new version for each instance of the service that is not stopped, waits until all are healthy, and gives them the traffic in steps. It goes back by itself if one fails. The answer does not wait for it. Needs a token with the scope `operate`.
         */
        post: operations["createRollouts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/rollouts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rollouts of services
         * @description The last rollouts of each service, the newest first. The last 50 are kept. Needs a token with the scope `read`.
         */
        get: operations["getRolloutsLocal"];
        put?: never;
        /**
         * Roll out a new version
         * @description Makes an instance of the new version for each instance of the service that is not stopped, waits until all are healthy, and gives them the traffic in steps. It goes back by itself if one fails. The answer does not wait for it. Needs a token with the scope `operate`.
         */
        post: operations["createRolloutsLocal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Go back to the old version
         * @description Of the rollout that is under way, or whose old version is still kept. The answer does not wait for it. Needs a token with the scope `operate`.
         */
        put: operations["rollBackServices"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Go back to the old version
         * @description Of the rollout that is under way, or whose old version is still kept. The answer does not wait for it. Needs a token with the scope `operate`.
         */
        put: operations["rollBackServicesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/autoscale": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Autoscale configuration of services
         * @description Services without a configuration are `unconfigured`. Without identifiers the answer is about all services. Needs a token with the scope `read`.
         */
        get: operations["getAutoscale"];
        put?: never;
        /**
         * Configure autoscale of services
         * @description Autoscale makes clones of the master and gives them back, as its policies say. The service is persistent from then on. Needs a token with the scope `operate`.
         */
        post: operations["createAutoscale"];
        /**
         * Delete the autoscale configuration of services
         * @description All clones drain for at most the cooldown, and are deleted. The master stays, and is started if it is stopped. Needs a token with the scope `operate`.
         */
        delete: operations["deleteAutoscale"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/autoscale": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Autoscale configuration of services
         * @description Services without a configuration are `unconfigured`. Without identifiers the answer is about all services. Needs a token with the scope `read`.
         */
        get: operations["getAutoscaleLocal"];
        put?: never;
        /**
         * Configure autoscale of services
         * @description Autoscale makes clones of the master and gives them back, as its policies say. The service is persistent from then on. Needs a token with the scope `operate`.
         */
        post: operations["createAutoscaleLocal"];
        /**
         * Delete the autoscale configuration of services
         * @description All clones drain for at most the cooldown, and are deleted. The master stays, and is started if it is stopped. Needs a token with the scope `operate`.
         */
        delete: operations["deleteAutoscaleLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/autoscale/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain the autoscale of services
         * @description How a service is scaled, what was decided and why, and what comes next. Needs a token with the scope `read`.
         */
        get: operations["explainAutoscale"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/autoscale/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain the autoscale of services
         * @description How a service is scaled, what was decided and why, and what comes next. Needs a token with the scope `read`.
         */
        get: operations["explainAutoscaleLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/autoscale/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try autoscale of services on their recorded load
         * @description Tells what a configuration would have done with the load of the last hour or day. Nothing of the service changes. What the body leaves out is that of the present configuration, or the default without one. Needs a token with the scope `read`.
         */
        post: operations["tryAutoscale"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{object}/autoscale/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try autoscale of services on their recorded load
         * @description Tells what a configuration would have done with the load of the last hour or day. Nothing of the service changes. What the body leaves out is that of the present configuration, or the default without one. Needs a token with the scope `read`.
         */
        post: operations["tryAutoscaleLocal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{owner}/autoscale/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Policies of the autoscale configuration of a service
         * @description Without names all policies are returned. One that the path names and that does not exist fails the request with status 404. Needs a token with the scope `read`.
         */
        get: operations["getAutoscalePolicies"];
        put?: never;
        /**
         * Add policies to the autoscale configuration of a service
         * @description Adds one policy per object of the body. They count from the next look at the service on. Needs a token with the scope `operate`.
         */
        post: operations["addAutoscalePolicies"];
        /**
         * Delete policies of the autoscale configuration of a service
         * @description The size of the service stays as it is. Needs a token with the scope `operate`.
         */
        delete: operations["deleteAutoscalePolicies"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{owner}/autoscale/policies/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Policies of the autoscale configuration of a service
         * @description Without names all policies are returned. One that the path names and that does not exist fails the request with status 404. Needs a token with the scope `read`.
         */
        get: operations["getAutoscalePoliciesLocal"];
        put?: never;
        post?: never;
        /**
         * Delete policies of the autoscale configuration of a service
         * @description The size of the service stays as it is. Needs a token with the scope `operate`.
         */
        delete: operations["deleteAutoscalePoliciesLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and properties of certificates
         * @description Without identifiers all certificates are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getCertificates"];
        /**
         * Replace the contents of uploaded certificates
         * @description The new chain has to be for the same domain. Domains that use the certificate have it within a second. A certificate that was requested is renewed by itself and can not be replaced. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["updateCertificates"];
        /**
         * Upload certificates
         * @description Uploads one certificate per object of the body. It is `valid` at once, is taken by domains that are created from then on, and is not renewed. Needs a token with the scope `operate` that is not limited to services.
         */
        post: operations["createCertificates"];
        /**
         * Delete certificates
         * @description Fails while a domain of a service uses it. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteCertificates"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status and properties of certificates
         * @description Without identifiers all certificates are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getCertificatesLocal"];
        /**
         * Replace the contents of uploaded certificates
         * @description The new chain has to be for the same domain. Domains that use the certificate have it within a second. A certificate that was requested is renewed by itself and can not be replaced. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["updateCertificatesLocal"];
        post?: never;
        /**
         * Delete certificates
         * @description Fails while a domain of a service uses it. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteCertificatesLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List certificates
         * @description An array of objects selects certificates that match any of them. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["listCertificates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain certificates
         * @description How a certificate stands, what was tried and seen, what that means and what to do. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainCertificates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/certificates/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain certificates
         * @description How a certificate stands, what was tried and seen, what that means and what to do. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainCertificatesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of volumes
         * @description Without identifiers all volumes are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getVolumes"];
        put?: never;
        /**
         * Create volumes
         * @description Creates one volume per object of the body. It gets an empty file system and then the state `available`, for which the answer waits a moment. Needs a token with the scope `operate` that is not limited to services.
         */
        post: operations["createVolumes"];
        /**
         * Delete volumes
         * @description Fails while an instance is attached. What was written is overwritten on the host. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteVolumes"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of volumes
         * @description Without identifiers all volumes are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getVolumesLocal"];
        put?: never;
        post?: never;
        /**
         * Delete volumes
         * @description Fails while an instance is attached. What was written is overwritten on the host. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteVolumesLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Attach volumes to instances
         * @description The volume has to be `available` and the instance `stopped`; it is mounted at the next start. `at`, which is required, and `readonly` stand beside `attach_to` or inside it. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["attachVolumes"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{object}/attach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Attach volumes to instances
         * @description The volume has to be `available` and the instance `stopped`; it is mounted at the next start. `at`, which is required, and `readonly` stand beside `attach_to` or inside it. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["attachVolumesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Detach volumes from instances
         * @description The instance has to be `stopped`. Without `from` the volume is detached from whichever instance has it. It is persistent from then on. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["detachVolumes"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{object}/detach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Detach volumes from instances
         * @description The instance has to be `stopped`. Without `from` the volume is detached from whichever instance has it. It is persistent from then on. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["detachVolumesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List volumes
         * @description All filters of one object must match; an array of objects selects volumes that match any of them. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["listVolumes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain volumes
         * @description What a volume is doing and why, and what comes next. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainVolumes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain volumes
         * @description What a volume is doing and why, and what comes next. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainVolumesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of schedules
         * @description Without identifiers all schedules are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getSchedules"];
        put?: never;
        /**
         * Create schedules
         * @description Creates one schedule per object of the body. At its times it starts or stops instances, or runs an image to its end. The image of a run is pinned to the digest that its tag has now. Needs a token with the scope `operate` that is not limited to services.
         */
        post: operations["createSchedules"];
        /**
         * Delete schedules
         * @description Its runs are deleted with it, and so is the instance of a run that is under way. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteSchedules"];
        options?: never;
        head?: never;
        /**
         * Change schedules
         * @description Of one object, `clear` is done first. A new `action` replaces the whole action. A run that is under way goes on as it began. Needs a token with the scope `operate` that is not limited to services.
         */
        patch: operations["updateSchedules"];
        trace?: never;
    };
    "/v1/schedules/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of schedules
         * @description Without identifiers all schedules are returned, and their entries have no `status`. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getSchedulesLocal"];
        put?: never;
        post?: never;
        /**
         * Delete schedules
         * @description Its runs are deleted with it, and so is the instance of a run that is under way. Needs a token with the scope `operate` that is not limited to services.
         */
        delete: operations["deleteSchedulesLocal"];
        options?: never;
        head?: never;
        /**
         * Change schedules
         * @description Of one object, `clear` is done first. A new `action` replaces the whole action. A run that is under way goes on as it began. Needs a token with the scope `operate` that is not limited to services.
         */
        patch: operations["updateSchedulesLocal"];
        trace?: never;
    };
    "/v1/schedules/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description All filters of one object must match; an array of objects selects schedules that match any of them. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Run schedules now
         * @description Has a run begin now, also if the schedule is paused. The answer does not wait for it. Fails if an earlier run is under way and `overlap` is `skip`. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["triggerSchedules"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{object}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Run schedules now
         * @description Has a run begin now, also if the schedule is paused. The answer does not wait for it. Fails if an earlier run is under way and `overlap` is `skip`. Needs a token with the scope `operate` that is not limited to services.
         */
        put: operations["triggerSchedulesLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs of schedules
         * @description The last runs of each schedule, the newest first. The last 50 are kept. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getScheduleRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{object}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs of schedules
         * @description The last runs of each schedule, the newest first. The last 50 are kept. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getScheduleRunsLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain schedules
         * @description What a schedule does and what its last run did, and when it runs next. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain schedules
         * @description What a schedule does and what its last run did, and when it runs next. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainSchedulesLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List images
         * @description All filters of one object must match; an array of objects selects images that match any of them. Needs a token with the scope `read` or `images:push` that is not limited to services.
         */
        get: operations["listImages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List images for newer clients
         * @description As `GET /v1/images/list`, but with `url`, and with `args` as a list. Needs a token with the scope `read` or `images:push` that is not limited to services.
         */
        get: operations["getImages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Quota usage and limits
         * @description Of the account that the token belongs to. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getQuotas"];
        /**
         * Change quotas of accounts
         * @description For administrators. To any other account it looks as if there were no accounts. What is left out stays as it is. Objects that are beyond a lowered quota stay, too. Needs a token with all rights.
         */
        put: operations["setUserQuotas"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{object}/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Quota usage and limits
         * @description Of the account that the token belongs to. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getQuotasLocal"];
        /**
         * Change quotas of accounts
         * @description For administrators. To any other account it looks as if there were no accounts. What is left out stays as it is. Objects that are beyond a lowered quota stay, too. Needs a token with all rights.
         */
        put: operations["setUserQuotasLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Accounts with their quotas
         * @description For administrators. To any other account it looks as if there were no accounts. Without identifiers all accounts are returned, the oldest first, and their entries have no `status`. An account whose name is a word of the API, such as `quotas`, is named by its UUID or in the query. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getUsers"];
        put?: never;
        /**
         * Create accounts
         * @description For administrators. Creates one account per object of the body, each with a token that has all rights. Only this answer has the token itself. No account is an administrator, and no operation makes a token for an account that exists. Needs a token with all rights.
         */
        post: operations["createUsers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Accounts with their quotas
         * @description For administrators. To any other account it looks as if there were no accounts. Without identifiers all accounts are returned, the oldest first, and their entries have no `status`. An account whose name is a word of the API, such as `quotas`, is named by its UUID or in the query. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getUsersLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/installation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What clients have to know of the installation
         * @description How its services and its registry are reached. The answer has one entry. Needs a token with the scope `read` or `operate` or `images:push` or `metrics`.
         */
        get: operations["getInstallation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events of the account
         * @description What happened to the objects of the account, the newest first. With `after` the oldest come first, and a client that goes on with the last id misses none. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the events of the account
         * @description Server-sent events of the type `event` with an `id`, as they happen. A client that connects again with `Last-Event-ID` gets every event once. An event of the type `gap` says that events after that id are not kept any more, and with which id the stream goes on. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Properties of tokens
         * @description Without identifiers all tokens are returned, and their entries have no `status`. Tokens that were revoked, or that expired more than 30 days ago, are not shown. Needs a token with all rights.
         */
        get: operations["getTokens"];
        put?: never;
        /**
         * Create tokens
         * @description Creates one token of the account per object of the body. Only this answer has the token itself. It does not outlive the token of the request. Needs a token with all rights.
         */
        post: operations["createTokens"];
        /**
         * Revoke tokens
         * @description Within a second, no process accepts them any more. Needs a token with all rights.
         */
        delete: operations["deleteTokens"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Properties of tokens
         * @description Without identifiers all tokens are returned, and their entries have no `status`. Tokens that were revoked, or that expired more than 30 days ago, are not shown. Needs a token with all rights.
         */
        get: operations["getTokensLocal"];
        put?: never;
        post?: never;
        /**
         * Revoke tokens
         * @description Within a second, no process accepts them any more. Needs a token with all rights.
         */
        delete: operations["deleteTokensLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description All tokens of the account, oldest first. An account has few, so the list has no pages. Needs a token with all rights.
         */
        get: operations["listTokens"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Moves that make hosts more equally full
         * @description In the order in which they are to be made; each counts on those before it. Nothing moves by this: `PUT /v1/instances/move` does it. Empty if no move is worth its pause. Hosts that are cordoned, or not heard, take no part. For administrators; to any other account it looks as if there were no hosts. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of hosts
         * @description For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getHosts"];
        put?: never;
        post?: never;
        /**
         * Remove hosts
         * @description A host that joined is locked out within a second: nothing in the installation accepts its certificate any more. A host that has instances or volumes is only removed if `lost` is true: then its machine must never come back, and if it still runs, it has to be switched off. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        delete: operations["deleteHosts"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of hosts
         * @description For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getHostsLocal"];
        put?: never;
        post?: never;
        /**
         * Remove hosts
         * @description A host that joined is locked out within a second: nothing in the installation accepts its certificate any more. A host that has instances or volumes is only removed if `lost` is true: then its machine must never come back, and if it still runs, it has to be switched off. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        delete: operations["deleteHostsLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain hosts
         * @description Whether a host is heard, what it has and how much room is left, and what that means. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain hosts
         * @description Whether a host is heard, what it has and how much room is left, and what that means. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["explainHostsLocal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/cordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Place nothing new on hosts
         * @description No new instance and no new volume is placed there from now on. What is there goes on, and restarts, wakes and starts there as before. A second cordon changes nothing, and a drain is taken back. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["cordonHosts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}/cordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Place nothing new on hosts
         * @description No new instance and no new volume is placed there from now on. What is there goes on, and restarts, wakes and starts there as before. A second cordon changes nothing, and a drain is taken back. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["cordonHostsLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Empty hosts
         * @description Cordons the host, and moves its instances to other hosts, some at a time, with their memory, their volumes and their addresses. This goes on by itself until no instance is left on the host; then it is only cordoned. Volumes that no instance has stay. A cordon or an uncordon takes it back: what has moved stays where it is. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["drainHosts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Empty hosts
         * @description Cordons the host, and moves its instances to other hosts, some at a time, with their memory, their volumes and their addresses. This goes on by itself until no instance is left on the host; then it is only cordoned. Volumes that no instance has stay. A cordon or an uncordon takes it back: what has moved stays where it is. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["drainHostsLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/uncordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Place new instances on hosts again
         * @description Takes the cordon back, and a drain. It changes nothing if there is none. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["uncordonHosts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}/uncordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Place new instances on hosts again
         * @description Takes the cordon back, and a drain. It changes nothing if there is none. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["uncordonHostsLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change labels of hosts
         * @description A host has at most 16 labels, with keys and values of at most 63 characters. They are for people: no instance is placed by them. All other labels stay as they are. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["labelHosts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/{object}/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change labels of hosts
         * @description A host has at most 16 labels, with keys and values of at most 63 characters. They are for people: no instance is placed by them. All other labels stay as they are. For administrators. To any other account it looks as if there were no hosts. A host is named by the id under which it joined; one whose id is no name is only in the answer about all hosts. Needs a token with all rights.
         */
        put: operations["labelHostsLocal"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of invitations of machines
         * @description The invitations that a machine can still join with, oldest first. Those that were used or have expired are not among them. No answer has their tokens. For administrators. To any other account it looks as if there were no invitations. One is named by the id that its host will have. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getHostInvitations"];
        put?: never;
        /**
         * Invite machines to become hosts
         * @description For administrators. Each object of the body invites one machine: `roost join <address> <token>` on it makes it a host. An invitation is good for one machine and for an hour. Only this answer has the token. Needs a token with all rights.
         */
        post: operations["inviteHosts"];
        /**
         * Take invitations of machines back
         * @description No machine can join with them any more. An invitation that a machine has used is not found; its host stays. For administrators. To any other account it looks as if there were no invitations. One is named by the id that its host will have. Needs a token with all rights.
         */
        delete: operations["deleteHostInvitations"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hosts/invitations/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Status of invitations of machines
         * @description The invitations that a machine can still join with, oldest first. Those that were used or have expired are not among them. No answer has their tokens. For administrators. To any other account it looks as if there were no invitations. One is named by the id that its host will have. Needs a token with the scope `read` that is not limited to services.
         */
        get: operations["getHostInvitationsLocal"];
        put?: never;
        post?: never;
        /**
         * Take invitations of machines back
         * @description No machine can join with them any more. An invitation that a machine has used is not found; its host stays. For administrators. To any other account it looks as if there were no invitations. One is named by the id that its host will have. Needs a token with all rights.
         */
        delete: operations["deleteHostInvitationsLocal"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process is alive. */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process can serve: its database answers. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: operations["openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics of the process in the Prometheus text format. */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The health of the API, for newer clients: `data.checks`. */
        get: operations["v1_healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The parts of the platform as targets for Prometheus' HTTP service discovery. Only for administrators. */
        get: operations["platform_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/platform/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics of one target in the Prometheus text format. Only for administrators. */
        get: operations["platform_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/registry/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tokens of the image registry, for OCI clients. */
        get: operations["registry_token"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        CreateInstancesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            image: string;
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            args?: string | string[] | null;
            /** @description Environment variables. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            memory_mb?: number | null;
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            vcpus?: number | null;
            service_group?: (({
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
                /** @description Published ports. */
                services?: {
                    /** @description Public port. */
                    port: number;
                    /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                    destination_port?: number | null;
                    /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                    handlers?: ("tls" | "http" | "redirect")[] | null;
                }[] | null;
                /** @description Default with ports: one derived from the name. */
                domains?: {
                    /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                    name: string;
                    certificate?: (({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    }) | null) | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    };
                }[] | null;
                /** @description Requests or connections of one instance above which the next one is woken; default 1. */
                soft_limit?: number | null;
                /** @description The most that one instance gets; default 65535. */
                hard_limit?: number | null;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                /** @enum {unknown} */
                name?: "" | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
                services?: unknown;
                domains?: unknown;
                /** @enum {unknown} */
                soft_limit?: null;
                /** @enum {unknown} */
                hard_limit?: null;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
                services?: unknown;
                domains?: unknown;
                /** @enum {unknown} */
                soft_limit?: null;
                /** @enum {unknown} */
                hard_limit?: null;
            }) | null) | {
                /** @enum {unknown} */
                uuid?: "" | null;
                /** @enum {unknown} */
                name?: "" | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
                services?: unknown;
                domains?: unknown;
                /** @enum {unknown} */
                soft_limit?: null;
                /** @enum {unknown} */
                hard_limit?: null;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
                services?: unknown;
                domains?: unknown;
                /** @enum {unknown} */
                soft_limit?: null;
                /** @enum {unknown} */
                hard_limit?: null;
            };
            /** @description The volume that is mounted at every start. */
            volumes?: ({
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
                /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                size_mb?: number | null;
                /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                at: string;
                /** @description Nothing can be written; default false. */
                readonly?: boolean | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                /** @enum {unknown} */
                size_mb?: null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                /** @enum {unknown} */
                size_mb?: null;
                name: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                /** @enum {unknown} */
                name?: "" | null;
                size_mb: string | number;
            })[] | null;
            /** @description Start right after creation; default false. */
            autostart?: boolean | null;
            /** @description Additional instances with these properties; default 0. */
            replicas?: number | null;
            /** @description How long to wait for it to run; 0 does not wait, -1 waits as long as possible (290000 ms), and so does everything larger. */
            wait_timeout_ms?: number | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
            /** @description Features. */
            features?: ("scale-to-zero" | "delete-on-stop")[] | null;
            /**
             * @description When to restart after a stop from within; default never.
             * @enum {string|null}
             */
            restart_policy?: "never" | "always" | "on-failure" | null;
            /** @description Words by which you find the instance. */
            tags?: string[] | null;
            scale_to_zero?: {
                /**
                 * @description When the instance goes to standby.
                 * @enum {string}
                 */
                policy: "off" | "on" | "idle";
                /** @description Time without traffic before standby; default 1000. */
                cooldown_time_ms?: number | null;
                /** @description Keep memory and connections in a snapshot; default false. */
                stateful?: boolean | null;
            } | null;
        } | {
            /** @constant */
            autostart: true;
        } | {
            /** @enum {unknown} */
            wait_timeout_ms?: 0 | null;
            /** @enum {unknown} */
            timeout_s?: 0 | null;
        };
        CreateInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    private_fqdn: string;
                    private_ip: string;
                    /** @description Only where it is attached to one. */
                    service_group?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the service. */
                        name: string;
                        /** @description Subdomains of the metro domain have no certificate of their own. */
                        domains: {
                            /** @description Without a final dot. */
                            fqdn: string;
                            certificate?: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid: string;
                                name: string;
                                /**
                                 * @description State of the certificate.
                                 * @enum {string}
                                 */
                                state: "pending" | "valid" | "error";
                            };
                        }[];
                    };
                    /** @description Only with `autostart` and `wait_timeout_ms`. */
                    boot_time_us?: number;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    private_fqdn: string;
                    private_ip: string;
                    /** @description Only where it is attached to one. */
                    service_group?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the service. */
                        name: string;
                        /** @description Subdomains of the metro domain have no certificate of their own. */
                        domains: {
                            /** @description Without a final dot. */
                            fqdn: string;
                            certificate?: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid: string;
                                name: string;
                                /**
                                 * @description State of the certificate.
                                 * @enum {string}
                                 */
                                state: "pending" | "valid" | "error";
                            };
                        }[];
                    };
                    /** @description Only with `autostart` and `wait_timeout_ms`. */
                    boot_time_us?: number;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description `<name>@sha256:<hex>`; official images have no user in front. */
                    image?: string;
                    /** @description Memory in MiB. */
                    memory_mb?: number;
                    /** @description Virtual CPUs. */
                    vcpus?: number;
                    args?: string[];
                    env?: {
                        [key: string]: string;
                    };
                    /** @description Starts in total. */
                    start_count?: number;
                    /** @description Restarts by the restart policy in total. */
                    restart_count?: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    started_at?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    stopped_at?: string;
                    /** @description Running time in total. */
                    uptime_ms?: number;
                    /** @description From the start to the finished boot of the kernel. */
                    boot_time_us?: number;
                    /** @description Origin of the stop, as bits. */
                    stop_reason?: number;
                    /** @description The application's exit code. */
                    exit_code?: number;
                    /** @description Kernel stop code. */
                    stop_code?: number;
                    /**
                     * @description Restart policy.
                     * @enum {string}
                     */
                    restart_policy?: "never" | "always" | "on-failure";
                    restart?: {
                        /** @description Restarts in this sequence. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        next_at?: string;
                    };
                    features?: ("scale-to-zero" | "delete-on-stop")[];
                    scale_to_zero?: {
                        /** @description The policy is not off, and the instance does not speak against it at present. */
                        enabled: boolean;
                        /**
                         * @description When the instance goes to standby.
                         * @enum {string}
                         */
                        policy: "off" | "on" | "idle";
                        /** @description Idle time before standby. */
                        cooldown_time_ms: number;
                        stateful: boolean;
                    };
                    /** @description Its memory, where standby kept it. */
                    snapshot?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                    };
                    /** @description Why the last start failed; of a wake on traffic too. Gone with the next success. */
                    failure?: string;
                    /** @description Only where it is attached to one. */
                    service_group?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the service. */
                        name: string;
                        /** @description Subdomains of the metro domain have no certificate of their own. */
                        domains: {
                            /** @description Without a final dot. */
                            fqdn: string;
                            certificate?: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid: string;
                                name: string;
                                /**
                                 * @description State of the certificate.
                                 * @enum {string}
                                 */
                                state: "pending" | "valid" | "error";
                            };
                        }[];
                    };
                    tags?: string[];
                    /** @description Changes that wait for a restart. */
                    updates?: {
                        /**
                         * @description A property.
                         * @enum {string}
                         */
                        prop: "image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags";
                        /** @constant */
                        op: "set";
                        value?: unknown;
                        /** @constant */
                        status: "pending";
                    }[];
                    /** @description The volume that is attached; empty where there is none. */
                    volumes?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the volume. */
                        name: string;
                        /** @description Path of the mount. */
                        at: string;
                        /** @description It is mounted, or will be, without the right to write. */
                        readonly: boolean;
                    }[];
                    /** @description The master that autoscale made it of; only where it did. */
                    clone_of?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                    };
                    /** @description The rollout that brings it in or keeps it; only where one does. */
                    rollout?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description True: the rollout brings it in. False: it is of the old version, as the way back. */
                        is_new: boolean;
                    };
                    /** @description The host on which it is placed. Administrators only. */
                    host?: string;
                    private_fqdn?: string;
                    private_ip?: string;
                    network_interfaces?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        private_ip: string;
                        mac: string;
                        /** @description Bytes received, over all starts. */
                        rx_bytes?: number;
                        /** @description Packets received, over all starts. */
                        rx_packets?: number;
                        /** @description Bytes sent, over all starts. */
                        tx_bytes?: number;
                        /** @description Packets sent, over all starts. */
                        tx_packets?: number;
                    }[];
                    /** @description Resident memory of the VMM; 0 when stopped. */
                    rss_bytes?: number;
                    /** @description CPU time, over all starts. */
                    cpu_time_ms?: number;
                    /** @description Established inbound connections without HTTP. */
                    nconns?: number;
                    /** @description HTTP requests in flight. */
                    nreqs?: number;
                    /** @description Inbound connections and requests that are queued. */
                    nqueued?: number;
                    /** @description Inbound connections and requests handled, in total. */
                    ntotal?: number;
                    /** @description To the start of the VMM process. Developers only. */
                    vmm_start_time_us?: number;
                    /** @description To the loaded kernel and initrd. Developers only. */
                    vmm_load_time_us?: number;
                    /** @description To the first instruction of the instance. Developers only. */
                    vmm_ready_time_us?: number;
                    /** @description To the first listening socket. Developers only. */
                    net_time_us?: number;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description `<name>@sha256:<hex>`; official images have no user in front. */
                    image?: string;
                    /** @description Memory in MiB. */
                    memory_mb?: number;
                    /** @description Virtual CPUs. */
                    vcpus?: number;
                    args?: string[];
                    env?: {
                        [key: string]: string;
                    };
                    /** @description Starts in total. */
                    start_count?: number;
                    /** @description Restarts by the restart policy in total. */
                    restart_count?: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    started_at?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    stopped_at?: string;
                    /** @description Running time in total. */
                    uptime_ms?: number;
                    /** @description From the start to the finished boot of the kernel. */
                    boot_time_us?: number;
                    /** @description Origin of the stop, as bits. */
                    stop_reason?: number;
                    /** @description The application's exit code. */
                    exit_code?: number;
                    /** @description Kernel stop code. */
                    stop_code?: number;
                    /**
                     * @description Restart policy.
                     * @enum {string}
                     */
                    restart_policy?: "never" | "always" | "on-failure";
                    restart?: {
                        /** @description Restarts in this sequence. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        next_at?: string;
                    };
                    features?: ("scale-to-zero" | "delete-on-stop")[];
                    scale_to_zero?: {
                        /** @description The policy is not off, and the instance does not speak against it at present. */
                        enabled: boolean;
                        /**
                         * @description When the instance goes to standby.
                         * @enum {string}
                         */
                        policy: "off" | "on" | "idle";
                        /** @description Idle time before standby. */
                        cooldown_time_ms: number;
                        stateful: boolean;
                    };
                    /** @description Its memory, where standby kept it. */
                    snapshot?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                    };
                    /** @description Why the last start failed; of a wake on traffic too. Gone with the next success. */
                    failure?: string;
                    /** @description Only where it is attached to one. */
                    service_group?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the service. */
                        name: string;
                        /** @description Subdomains of the metro domain have no certificate of their own. */
                        domains: {
                            /** @description Without a final dot. */
                            fqdn: string;
                            certificate?: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid: string;
                                name: string;
                                /**
                                 * @description State of the certificate.
                                 * @enum {string}
                                 */
                                state: "pending" | "valid" | "error";
                            };
                        }[];
                    };
                    tags?: string[];
                    /** @description Changes that wait for a restart. */
                    updates?: {
                        /**
                         * @description A property.
                         * @enum {string}
                         */
                        prop: "image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags";
                        /** @constant */
                        op: "set";
                        value?: unknown;
                        /** @constant */
                        status: "pending";
                    }[];
                    /** @description The volume that is attached; empty where there is none. */
                    volumes?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the volume. */
                        name: string;
                        /** @description Path of the mount. */
                        at: string;
                        /** @description It is mounted, or will be, without the right to write. */
                        readonly: boolean;
                    }[];
                    /** @description The master that autoscale made it of; only where it did. */
                    clone_of?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                    };
                    /** @description The rollout that brings it in or keeps it; only where one does. */
                    rollout?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description True: the rollout brings it in. False: it is of the old version, as the way back. */
                        is_new: boolean;
                    };
                    /** @description The host on which it is placed. Administrators only. */
                    host?: string;
                    private_fqdn?: string;
                    private_ip?: string;
                    network_interfaces?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        private_ip: string;
                        mac: string;
                        /** @description Bytes received, over all starts. */
                        rx_bytes?: number;
                        /** @description Packets received, over all starts. */
                        rx_packets?: number;
                        /** @description Bytes sent, over all starts. */
                        tx_bytes?: number;
                        /** @description Packets sent, over all starts. */
                        tx_packets?: number;
                    }[];
                    /** @description Resident memory of the VMM; 0 when stopped. */
                    rss_bytes?: number;
                    /** @description CPU time, over all starts. */
                    cpu_time_ms?: number;
                    /** @description Established inbound connections without HTTP. */
                    nconns?: number;
                    /** @description HTTP requests in flight. */
                    nreqs?: number;
                    /** @description Inbound connections and requests that are queued. */
                    nqueued?: number;
                    /** @description Inbound connections and requests handled, in total. */
                    ntotal?: number;
                    /** @description To the start of the VMM process. Developers only. */
                    vmm_start_time_us?: number;
                    /** @description To the loaded kernel and initrd. Developers only. */
                    vmm_load_time_us?: number;
                    /** @description To the first instruction of the instance. Developers only. */
                    vmm_ready_time_us?: number;
                    /** @description To the first listening socket. Developers only. */
                    net_time_us?: number;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteInstancesParameters: {
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        };
        DeleteInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListInstancesObject: {
            /**
             * @description State of an instance.
             * @enum {string|null}
             */
            state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby" | null;
        };
        ListInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        StartInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description How long to wait for it to run; 0 does not wait, -1 waits as long as possible (290000 ms), and so does everything larger. */
            wait_timeout_ms?: number | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        StartInstancesParameters: {
            /** @description How long to wait for it to run; 0 does not wait, -1 waits as long as possible (290000 ms), and so does everything larger. */
            wait_timeout_ms?: number | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        };
        StartInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        StopInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Stop at once, without a clean shutdown; default false. */
            force?: boolean | null;
            /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
            drain_timeout_ms?: number | null;
        } & (({
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) & ({
            /** @enum {unknown} */
            force?: false | null;
        } | {
            /** @enum {unknown} */
            drain_timeout_ms?: 0 | null;
        }));
        StopInstancesParameters: {
            /** @description Stop at once, without a clean shutdown; default false. */
            force?: boolean | null;
            /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
            drain_timeout_ms?: number | null;
        } | {
            /** @enum {unknown} */
            force?: false | null;
        } | {
            /** @enum {unknown} */
            drain_timeout_ms?: 0 | null;
        };
        StopInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        SuspendInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description How long requests in flight may take to end before the instance sleeps; default 10000, which is also what -1 means. New requests wait for as long. */
            drain_timeout_ms?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        SuspendInstancesParameters: {
            /** @description How long requests in flight may take to end before the instance sleeps; default 10000, which is also what -1 means. New requests wait for as long. */
            drain_timeout_ms?: number | null;
        };
        SuspendInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    previous_state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        MoveInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description The host where the instances are to be. */
            host: string;
            /** @description How long to wait until the move is over; 0, the default, does not wait, -1 waits as long as possible (290000 ms), and so does everything larger. */
            wait_timeout_ms?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        MoveInstancesParameters: {
            /** @description The host where the instances are to be. */
            host: string;
            /** @description How long to wait until the move is over; 0, the default, does not wait, -1 waits as long as possible (290000 ms), and so does everything larger. */
            wait_timeout_ms?: number | null;
        };
        MoveInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description The host on which the instance is. */
                    host: string;
                    /** @description The move is not over. */
                    is_moving: boolean;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description The host on which the instance is. */
                    host: string;
                    /** @description The move is not over. */
                    is_moving: boolean;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        UpdateInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            image?: string | null;
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            args?: string | string[] | null;
            /** @description Environment variables. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            memory_mb?: number | null;
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            vcpus?: number | null;
            /**
             * @description When to restart after a stop from within; default never.
             * @enum {string|null}
             */
            restart_policy?: "never" | "always" | "on-failure" | null;
            /** @description Features. */
            features?: ("scale-to-zero" | "delete-on-stop")[] | null;
            scale_to_zero?: {
                /**
                 * @description When the instance goes to standby.
                 * @enum {string|null}
                 */
                policy?: "off" | "on" | "idle" | null;
                /** @description Time without traffic before standby; default 1000. */
                cooldown_time_ms?: number | null;
                /** @description Keep memory and connections in a snapshot; default false. */
                stateful?: boolean | null;
            } | null;
            /** @description Words by which you find the instance. */
            tags?: string[] | null;
            /** @description Variables and tags to be added. */
            add?: {
                /** @description Environment variables. */
                env?: {
                    [key: string]: string;
                } | null;
                /** @description Words by which you find the instance. */
                tags?: string[] | null;
            } | null;
            /** @description Variables and tags to be removed. */
            del?: {
                /** @description Names of variables. */
                env?: string | string[] | null;
                /** @description Words by which you find the instance. */
                tags?: string[] | null;
            } | null;
            /** @description Properties that get their defaults again. */
            clear?: ("args" | "env" | "restart_policy" | "features" | "scale_to_zero" | "tags")[] | null;
            /** @description Restart what runs, and drop the memory of what sleeps, if it lacks a change; default false. */
            restart?: boolean | null;
            /** @description How long connections may drain before a restart; default 5000, -1 is as long as possible (3600000 ms). */
            drain_timeout_ms?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        UpdateInstancesParameters: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            image?: string | null;
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            args?: string | string[] | null;
            /** @description Environment variables. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            memory_mb?: number | null;
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            vcpus?: number | null;
            /**
             * @description When to restart after a stop from within; default never.
             * @enum {string|null}
             */
            restart_policy?: "never" | "always" | "on-failure" | null;
            /** @description Features. */
            features?: ("scale-to-zero" | "delete-on-stop")[] | null;
            scale_to_zero?: {
                /**
                 * @description When the instance goes to standby.
                 * @enum {string|null}
                 */
                policy?: "off" | "on" | "idle" | null;
                /** @description Time without traffic before standby; default 1000. */
                cooldown_time_ms?: number | null;
                /** @description Keep memory and connections in a snapshot; default false. */
                stateful?: boolean | null;
            } | null;
            /** @description Words by which you find the instance. */
            tags?: string[] | null;
            /** @description Variables and tags to be added. */
            add?: {
                /** @description Environment variables. */
                env?: {
                    [key: string]: string;
                } | null;
                /** @description Words by which you find the instance. */
                tags?: string[] | null;
            } | null;
            /** @description Variables and tags to be removed. */
            del?: {
                /** @description Names of variables. */
                env?: string | string[] | null;
                /** @description Words by which you find the instance. */
                tags?: string[] | null;
            } | null;
            /** @description Properties that get their defaults again. */
            clear?: ("args" | "env" | "restart_policy" | "features" | "scale_to_zero" | "tags")[] | null;
            /** @description Restart what runs, and drop the memory of what sleeps, if it lacks a change; default false. */
            restart?: boolean | null;
            /** @description How long connections may drain before a restart; default 5000, -1 is as long as possible (3600000 ms). */
            drain_timeout_ms?: number | null;
        };
        UpdateInstancesChange: ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "image";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            value: string;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "args";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            value?: string | string[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Environment variables. */
            value?: {
                [key: string]: string;
            } | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Environment variables. */
            value?: {
                [key: string]: string;
            } | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Names of variables. */
            value?: string | string[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "memory_mb";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            value: number;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "vcpus";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            value: number;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "restart_policy";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /**
             * @description When to restart after a stop from within; default never.
             * @enum {string|null}
             */
            value?: "never" | "always" | "on-failure" | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "features";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Features. */
            value?: ("scale-to-zero" | "delete-on-stop")[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "scale_to_zero";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            value?: {
                /**
                 * @description When the instance goes to standby.
                 * @enum {string|null}
                 */
                policy?: "off" | "on" | "idle" | null;
                /** @description Time without traffic before standby; default 1000. */
                cooldown_time_ms?: number | null;
                /** @description Keep memory and connections in a snapshot; default false. */
                stateful?: boolean | null;
            } | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        });
        UpdateInstancesLocalChange: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "image";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            value: string;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "args";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            value?: string | string[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Environment variables. */
            value?: {
                [key: string]: string;
            } | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Environment variables. */
            value?: {
                [key: string]: string;
            } | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "env";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Names of variables. */
            value?: string | string[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "memory_mb";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            value: number;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "vcpus";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            value: number;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "restart_policy";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /**
             * @description When to restart after a stop from within; default never.
             * @enum {string|null}
             */
            value?: "never" | "always" | "on-failure" | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "features";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Features. */
            value?: ("scale-to-zero" | "delete-on-stop")[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "scale_to_zero";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            value?: {
                /**
                 * @description When the instance goes to standby.
                 * @enum {string|null}
                 */
                policy?: "off" | "on" | "idle" | null;
                /** @description Time without traffic before standby; default 1000. */
                cooldown_time_ms?: number | null;
                /** @description Keep memory and connections in a snapshot; default false. */
                stateful?: boolean | null;
            } | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "tags";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Words by which you find the instance. */
            value?: string[] | null;
        };
        UpdateInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /** @description The `id` of the change, as the request gave it. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description The properties that are other than before. */
                    changed: ("image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags")[];
                    /** @description The changed properties that wait for a restart: `restart` brings them about now. */
                    needs_restart: ("image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags")[];
                    /** @description It restarts, so that it gets the changes. */
                    restarting: boolean;
                    /** @description It sleeps, and the memory that was kept is dropped. */
                    memory_dropped: boolean;
                    /** @description What a restart would do, if the instance sleeps with its memory. */
                    note?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /** @description The `id` of the change, as the request gave it. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description The properties that are other than before. */
                    changed: ("image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags")[];
                    /** @description The changed properties that wait for a restart: `restart` brings them about now. */
                    needs_restart: ("image" | "args" | "env" | "memory_mb" | "vcpus" | "restart_policy" | "features" | "scale_to_zero" | "tags")[];
                    /** @description It restarts, so that it gets the changes. */
                    restarting: boolean;
                    /** @description It sleeps, and the memory that was kept is dropped. */
                    memory_dropped: boolean;
                    /** @description What a restart would do, if the instance sleeps with its memory. */
                    note?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        WaitInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /**
             * @description The state to wait for; default running.
             * @enum {string|null}
             */
            state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby" | null;
            /** @description How long to wait; default -1, which waits as long as possible (290000 ms), and so does everything larger. */
            timeout_ms?: number | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        WaitInstancesParameters: {
            /**
             * @description The state to wait for; default running.
             * @enum {string|null}
             */
            state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby" | null;
            /** @description How long to wait; default -1, which waits as long as possible (290000 ms), and so does everything larger. */
            timeout_ms?: number | null;
            /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
            timeout_s?: number | null;
        };
        WaitInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetInstanceLogsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Byte offset, from the end of the log where negative; default -4096. */
            offset?: number | null;
            /** @description Most bytes to return; default 4096, never more than 65536. */
            limit?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetInstanceLogsParameters: {
            /** @description Byte offset, from the end of the log where negative; default -4096. */
            offset?: number | null;
            /** @description Most bytes to return; default 4096, never more than 65536. */
            limit?: number | null;
        };
        GetInstanceLogsAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /** @description The bytes of `range`, in base64. */
                    output: string;
                    available: {
                        /** @description First byte kept. */
                        start: number;
                        /** @description End of the log, exclusive. */
                        end: number;
                    };
                    range: {
                        /** @description First byte of `output`. */
                        start: number;
                        /** @description End of `output`, exclusive. */
                        end: number;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /** @description The bytes of `range`, in base64. */
                    output: string;
                    available: {
                        /** @description First byte kept. */
                        start: number;
                        /** @description End of the log, exclusive. */
                        end: number;
                    };
                    range: {
                        /** @description First byte of `output`. */
                        start: number;
                        /** @description End of `output`, exclusive. */
                        end: number;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExecInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExecInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ArchiveInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ArchiveInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ConnectInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ConnectInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetInstanceMetricsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetInstanceMetricsAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description Starts in total. */
                    start_count: number;
                    /** @description Restarts by the restart policy in total. */
                    restart_count: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    started_at?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    stopped_at?: string;
                    /** @description Running time in total. */
                    uptime_ms: number;
                    /** @description Boot time of the last start. */
                    boot_time_us?: number;
                    /** @description Resident memory of the VMM; 0 when stopped. */
                    rss_bytes: number;
                    /** @description CPU time, over all starts. */
                    cpu_time_ms: number;
                    /** @description Bytes received, over all starts. */
                    rx_bytes: number;
                    /** @description Packets received, over all starts. */
                    rx_packets: number;
                    /** @description Bytes sent, over all starts. */
                    tx_bytes: number;
                    /** @description Packets sent, over all starts. */
                    tx_packets: number;
                    /** @description Established inbound connections without HTTP. */
                    nconns: number;
                    /** @description HTTP requests in flight. */
                    nreqs: number;
                    /** @description Inbound connections and requests that are queued. */
                    nqueued: number;
                    /** @description Inbound connections and requests handled, in total. */
                    ntotal: number;
                    /** @description To the first listening socket. Developers only. */
                    net_time_us?: number;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description Starts in total. */
                    start_count: number;
                    /** @description Restarts by the restart policy in total. */
                    restart_count: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    started_at?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    stopped_at?: string;
                    /** @description Running time in total. */
                    uptime_ms: number;
                    /** @description Boot time of the last start. */
                    boot_time_us?: number;
                    /** @description Resident memory of the VMM; 0 when stopped. */
                    rss_bytes: number;
                    /** @description CPU time, over all starts. */
                    cpu_time_ms: number;
                    /** @description Bytes received, over all starts. */
                    rx_bytes: number;
                    /** @description Packets received, over all starts. */
                    rx_packets: number;
                    /** @description Bytes sent, over all starts. */
                    tx_bytes: number;
                    /** @description Packets sent, over all starts. */
                    tx_packets: number;
                    /** @description Established inbound connections without HTTP. */
                    nconns: number;
                    /** @description HTTP requests in flight. */
                    nreqs: number;
                    /** @description Inbound connections and requests that are queued. */
                    nqueued: number;
                    /** @description Inbound connections and requests handled, in total. */
                    ntotal: number;
                    /** @description To the first listening socket. Developers only. */
                    net_time_us?: number;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetInstanceUsageObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /**
             * @description Length of a step: `5s` for the last hour, `5m` for the last 30 days; default `5s`.
             * @enum {string|null}
             */
            step?: "5s" | "5m" | null;
            /** @description Length of the time that is told, in steps up to now; default all that are kept. Of all objects of a request together at most 8640. */
            limit?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetInstanceUsageParameters: {
            /**
             * @description Length of a step: `5s` for the last hour, `5m` for the last 30 days; default `5s`.
             * @enum {string|null}
             */
            step?: "5s" | "5m" | null;
            /** @description Length of the time that is told, in steps up to now; default all that are kept. Of all objects of a request together at most 8640. */
            limit?: number | null;
        };
        GetInstanceUsageAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Length of a step.
                     * @enum {string}
                     */
                    step: "5s" | "5m";
                    /** @description Steps from the oldest to the newest. A step is left out if nothing was seen in it: nothing ran, or the host was away. */
                    usage: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description For how much of the step it was watched; of a service the sum over its instances. */
                        seen_ms: number;
                        /** @description Memory at the last sample in the step. */
                        rss_bytes: number;
                        /** @description Processor time. */
                        cpu_time_ms: number;
                        /** @description Bytes received. */
                        rx_bytes: number;
                        /** @description Packets received. */
                        rx_packets: number;
                        /** @description Bytes sent. */
                        tx_bytes: number;
                        /** @description Packets sent. */
                        tx_packets: number;
                        /** @description Connections and requests that ended. */
                        nrequests: number;
                        /** @description Wakes from standby. */
                        nwakes: number;
                        /** @description Requests in flight, times how long they were: 3 of them for 5 s are 15000. */
                        in_flight_ms: number;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Length of a step.
                     * @enum {string}
                     */
                    step: "5s" | "5m";
                    /** @description Steps from the oldest to the newest. A step is left out if nothing was seen in it: nothing ran, or the host was away. */
                    usage: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description For how much of the step it was watched; of a service the sum over its instances. */
                        seen_ms: number;
                        /** @description Memory at the last sample in the step. */
                        rss_bytes: number;
                        /** @description Processor time. */
                        cpu_time_ms: number;
                        /** @description Bytes received. */
                        rx_bytes: number;
                        /** @description Packets received. */
                        rx_packets: number;
                        /** @description Bytes sent. */
                        tx_bytes: number;
                        /** @description Packets sent. */
                        tx_packets: number;
                        /** @description Connections and requests that ended. */
                        nrequests: number;
                        /** @description Wakes from standby. */
                        nwakes: number;
                        /** @description Requests in flight, times how long they were: 3 of them for 5 s are 15000. */
                        in_flight_ms: number;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainInstancesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainInstancesAnswer: {
            /** @constant */
            status: "success";
            data: {
                instances: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description Why only what is recorded is told; absent if all that was asked answered. */
                    note?: string;
                    /** @description The host on which it is placed. */
                    host: string;
                    /** @description Why it is on that host; absent if that is not known, or if there was no other. */
                    placed?: string;
                    /** @description What a move to another host does, or why the last one failed; absent if there is nothing to tell. */
                    move?: string;
                    /** @description What its host says; absent if it does not answer, or if the instance never started. */
                    lease?: {
                        /**
                         * @description What the host does with the instance.
                         * @enum {string}
                         */
                        phase: "none" | "starting" | "running" | "draining" | "standing-by" | "asleep" | "held" | "waking" | "stopping";
                        awake: boolean;
                        /** @description Gateways that may send traffic to it. */
                        leases: number;
                        /** @description HTTP requests in flight. */
                        requests: number;
                        /** @description Connections without HTTP. */
                        connections: number;
                        /** @description Requests and connections that wait. */
                        queued: number;
                        /** @description The instance itself speaks against standby. */
                        disabled: boolean;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        idle_since?: string;
                        /** @description It could sleep, but waits for its turn among those of its user. */
                        held_back?: boolean;
                        /** @description Why the last wake failed, and when the next try is permitted. */
                        wake_failure?: {
                            message: string;
                            /**
                             * Format: date-time
                             * @description As in RFC 3339, in UTC.
                             */
                            retry_at: string;
                        };
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        stalled_since?: string;
                        /** @description The last standby that failed, because the disk had no room for the memory. */
                        no_room?: {
                            /**
                             * Format: date-time
                             * @description As in RFC 3339, in UTC.
                             */
                            at: string;
                            /** @description Memory to be kept. */
                            needed_mb: number;
                            /** @description Room on the disk. */
                            left_mb: number;
                        };
                    };
                    /** @description Its volume, if something is the matter with that. */
                    volume?: {
                        /** @description What the object is doing at present and why. */
                        now: string;
                        /** @description What comes next by itself, with its time if that is known. */
                        next: string;
                        /** @description What went wrong last, if it still matters. */
                        failure?: string;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                instances: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the instance. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description Why only what is recorded is told; absent if all that was asked answered. */
                    note?: string;
                    /** @description The host on which it is placed. */
                    host: string;
                    /** @description Why it is on that host; absent if that is not known, or if there was no other. */
                    placed?: string;
                    /** @description What a move to another host does, or why the last one failed; absent if there is nothing to tell. */
                    move?: string;
                    /** @description What its host says; absent if it does not answer, or if the instance never started. */
                    lease?: {
                        /**
                         * @description What the host does with the instance.
                         * @enum {string}
                         */
                        phase: "none" | "starting" | "running" | "draining" | "standing-by" | "asleep" | "held" | "waking" | "stopping";
                        awake: boolean;
                        /** @description Gateways that may send traffic to it. */
                        leases: number;
                        /** @description HTTP requests in flight. */
                        requests: number;
                        /** @description Connections without HTTP. */
                        connections: number;
                        /** @description Requests and connections that wait. */
                        queued: number;
                        /** @description The instance itself speaks against standby. */
                        disabled: boolean;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        idle_since?: string;
                        /** @description It could sleep, but waits for its turn among those of its user. */
                        held_back?: boolean;
                        /** @description Why the last wake failed, and when the next try is permitted. */
                        wake_failure?: {
                            message: string;
                            /**
                             * Format: date-time
                             * @description As in RFC 3339, in UTC.
                             */
                            retry_at: string;
                        };
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        stalled_since?: string;
                        /** @description The last standby that failed, because the disk had no room for the memory. */
                        no_room?: {
                            /**
                             * Format: date-time
                             * @description As in RFC 3339, in UTC.
                             */
                            at: string;
                            /** @description Memory to be kept. */
                            needed_mb: number;
                            /** @description Room on the disk. */
                            left_mb: number;
                        };
                    };
                    /** @description Its volume, if something is the matter with that. */
                    volume?: {
                        /** @description What the object is doing at present and why. */
                        now: string;
                        /** @description What comes next by itself, with its time if that is known. */
                        next: string;
                        /** @description What went wrong last, if it still matters. */
                        failure?: string;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateServicesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Published ports. */
            services?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
            /** @description Default with ports: one derived from the name. */
            domains?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
            /** @description Requests or connections of one instance above which the next one is woken; default 1. */
            soft_limit?: number | null;
            /** @description The most that one instance gets; default 65535. */
            hard_limit?: number | null;
        };
        CreateServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetServicesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description It stays when its last instance is gone. */
                    persistent?: boolean;
                    /** @description Autoscale is enabled. */
                    autoscale?: boolean;
                    /** @description Load of one instance above which the next one is woken. */
                    soft_limit?: number;
                    /** @description The most load of one instance. */
                    hard_limit?: number;
                    services?: {
                        /** @description Public port. */
                        port: number;
                        /** @description Port of the application; of a redirect, where it leads. */
                        destination_port: number;
                        handlers: ("tls" | "http" | "redirect")[];
                    }[];
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains?: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                    instances?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description It stays when its last instance is gone. */
                    persistent?: boolean;
                    /** @description Autoscale is enabled. */
                    autoscale?: boolean;
                    /** @description Load of one instance above which the next one is woken. */
                    soft_limit?: number;
                    /** @description The most load of one instance. */
                    hard_limit?: number;
                    services?: {
                        /** @description Public port. */
                        port: number;
                        /** @description Port of the application; of a redirect, where it leads. */
                        destination_port: number;
                        handlers: ("tls" | "http" | "redirect")[];
                    }[];
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains?: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                    instances?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        UpdateServicesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Requests or connections of one instance above which the next one is woken; default 1. */
            soft_limit?: number | null;
            /** @description The most that one instance gets; default 65535. */
            hard_limit?: number | null;
            /** @description The ports that replace the present ones. */
            services?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
            /** @description The domains that replace the present ones. */
            domains?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
            add?: {
                /** @description Ports that are published as well, or in another way than at present. */
                services?: {
                    /** @description Public port. */
                    port: number;
                    /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                    destination_port?: number | null;
                    /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                    handlers?: ("tls" | "http" | "redirect")[] | null;
                }[] | null;
                /** @description Further domains, and domains that get another certificate. */
                domains?: {
                    /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                    name: string;
                    certificate?: (({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    }) | null) | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    };
                }[] | null;
            } | null;
            del?: {
                /** @description Ports that are not published any more; of an object only `port` counts. */
                services?: (number | {
                    /** @description Public port. */
                    port: number;
                    /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                    destination_port?: number | null;
                    /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                    handlers?: ("tls" | "http" | "redirect")[] | null;
                })[] | null;
                /** @description Domains that are taken away; of an object only `name` counts. Certificates stay. */
                domains?: (string | {
                    /** @description Domain name, as in a request or as `fqdn` in an answer. */
                    name: string;
                    certificate?: (({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    }) | null) | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    };
                })[] | null;
            } | null;
            clear?: ("soft_limit" | "hard_limit" | "services" | "domains")[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        UpdateServicesParameters: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Requests or connections of one instance above which the next one is woken; default 1. */
            soft_limit?: number | null;
            /** @description The most that one instance gets; default 65535. */
            hard_limit?: number | null;
            /** @description The ports that replace the present ones. */
            services?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
            /** @description The domains that replace the present ones. */
            domains?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
            add?: {
                /** @description Ports that are published as well, or in another way than at present. */
                services?: {
                    /** @description Public port. */
                    port: number;
                    /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                    destination_port?: number | null;
                    /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                    handlers?: ("tls" | "http" | "redirect")[] | null;
                }[] | null;
                /** @description Further domains, and domains that get another certificate. */
                domains?: {
                    /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                    name: string;
                    certificate?: (({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    }) | null) | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    };
                }[] | null;
            } | null;
            del?: {
                /** @description Ports that are not published any more; of an object only `port` counts. */
                services?: (number | {
                    /** @description Public port. */
                    port: number;
                    /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                    destination_port?: number | null;
                    /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                    handlers?: ("tls" | "http" | "redirect")[] | null;
                })[] | null;
                /** @description Domains that are taken away; of an object only `name` counts. Certificates stay. */
                domains?: (string | {
                    /** @description Domain name, as in a request or as `fqdn` in an answer. */
                    name: string;
                    certificate?: (({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    }) | null) | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    };
                })[] | null;
            } | null;
            clear?: ("soft_limit" | "hard_limit" | "services" | "domains")[] | null;
        };
        UpdateServicesChange: ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "soft_limit";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Requests or connections of one instance above which the next one is woken; default 1. */
            value?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "hard_limit";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The most that one instance gets; default 65535. */
            value?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The ports that replace the present ones. */
            value?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Ports that are published as well, or in another way than at present. */
            value?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Ports that are not published any more; of an object only `port` counts. */
            value?: (number | {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            })[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The domains that replace the present ones. */
            value?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Further domains, and domains that get another certificate. */
            value?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Domains that are taken away; of an object only `name` counts. Certificates stay. */
            value?: (string | {
                /** @description Domain name, as in a request or as `fqdn` in an answer. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            })[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        });
        UpdateServicesLocalChange: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "soft_limit";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Requests or connections of one instance above which the next one is woken; default 1. */
            value?: number | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "hard_limit";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The most that one instance gets; default 65535. */
            value?: number | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The ports that replace the present ones. */
            value?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Ports that are published as well, or in another way than at present. */
            value?: {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            }[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "services";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Ports that are not published any more; of an object only `port` counts. */
            value?: (number | {
                /** @description Public port. */
                port: number;
                /** @description Port of the application; the public one if absent, and 443 for a redirect. */
                destination_port?: number | null;
                /** @description Default: http on port 80, tls and http on port 443, tls on every other. */
                handlers?: ("tls" | "http" | "redirect")[] | null;
            })[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description The domains that replace the present ones. */
            value?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "add";
            /** @description Further domains, and domains that get another certificate. */
            value?: {
                /** @description Domain name; with a final dot it is taken as it is, else the metro domain is appended. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            }[] | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "domains";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "del";
            /** @description Domains that are taken away; of an object only `name` counts. Certificates stay. */
            value?: (string | {
                /** @description Domain name, as in a request or as `fqdn` in an answer. */
                name: string;
                certificate?: (({
                    /** @description Identifier given at creation. */
                    uuid?: string | null;
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    name?: string | null;
                } | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                }) | null) | {
                    /** @enum {unknown} */
                    name?: "" | null;
                    uuid: string;
                } | {
                    /** @enum {unknown} */
                    uuid?: "" | null;
                    name: string;
                };
            })[] | null;
        };
        UpdateServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The `id` of the object. */
                    id?: string;
                    /** @description What all objects about the service have changed together. */
                    changed: ("soft_limit" | "hard_limit" | "services" | "domains")[];
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The `id` of the object. */
                    id?: string;
                    /** @description What all objects about the service have changed together. */
                    changed: ("soft_limit" | "hard_limit" | "services" | "domains")[];
                    /** @description Subdomains of the metro domain have no certificate of their own. */
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        certificate?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            name: string;
                            /**
                             * @description State of the certificate.
                             * @enum {string}
                             */
                            state: "pending" | "valid" | "error";
                        };
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteServicesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListServicesObject: {
            /** @description Only services that are, or are not, persistent. */
            persistent?: boolean | null;
            /** @description Only the service with exactly this domain. */
            fqdn?: string | null;
        };
        ListServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainServicesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description What a request meets: an awake instance, one that starts, one that sleeps, a silent host, or nothing.
                     * @enum {string}
                     */
                    state: "answered" | "waits" | "wakes" | "unknown" | "refused";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    services: {
                        /** @description Public port. */
                        port: number;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    instances: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    /** @description The rollout that is under way, or that keeps the old version as the way back. */
                    rollout?: {
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description What it does, and what it waits for. */
                        now: string;
                        /** @description What comes next. */
                        next: string;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description What a request meets: an awake instance, one that starts, one that sleeps, a silent host, or nothing.
                     * @enum {string}
                     */
                    state: "answered" | "waits" | "wakes" | "unknown" | "refused";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    services: {
                        /** @description Public port. */
                        port: number;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    domains: {
                        /** @description Without a final dot. */
                        fqdn: string;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    instances: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                        /** @description What it does at present, as a phrase after its name. */
                        does: string;
                    }[];
                    /** @description The rollout that is under way, or that keeps the old version as the way back. */
                    rollout?: {
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description What it does, and what it waits for. */
                        now: string;
                        /** @description What comes next. */
                        next: string;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetServiceMetricsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetServiceMetricsAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Instances by state. */
                    instances: {
                        /** @description Instances that are stopped. */
                        stopped: number;
                        /** @description Instances that are starting. */
                        starting: number;
                        /** @description Instances that are running. */
                        running: number;
                        /** @description Instances that are draining. */
                        draining: number;
                        /** @description Instances that are stopping. */
                        stopping: number;
                        /** @description Instances that are standby. */
                        standby: number;
                    };
                    /** @description Answered requests by class of status; 499: the client left before. */
                    requests: {
                        /** @description Answers with status 499. */
                        499: number;
                        /** @description Answers with status 1xx. */
                        "1xx": number;
                        /** @description Answers with status 2xx. */
                        "2xx": number;
                        /** @description Answers with status 3xx. */
                        "3xx": number;
                        /** @description Answers with status 4xx. */
                        "4xx": number;
                        /** @description Answers with status 5xx. */
                        "5xx": number;
                    };
                    /** @description Seconds in all. */
                    request_seconds: number;
                    /** @description How many requests took how long, from the shortest bound on. Those above all are in `requests` alone. */
                    request_durations: {
                        /** @description A bound of durations. */
                        within_seconds: number;
                        /** @description Requests that took no longer. */
                        count: number;
                    }[];
                    /** @description Wakes for traffic of the service, by how the VM came up. */
                    wakes: {
                        boot: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                        template: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                        restore: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Instances by state. */
                    instances: {
                        /** @description Instances that are stopped. */
                        stopped: number;
                        /** @description Instances that are starting. */
                        starting: number;
                        /** @description Instances that are running. */
                        running: number;
                        /** @description Instances that are draining. */
                        draining: number;
                        /** @description Instances that are stopping. */
                        stopping: number;
                        /** @description Instances that are standby. */
                        standby: number;
                    };
                    /** @description Answered requests by class of status; 499: the client left before. */
                    requests: {
                        /** @description Answers with status 499. */
                        499: number;
                        /** @description Answers with status 1xx. */
                        "1xx": number;
                        /** @description Answers with status 2xx. */
                        "2xx": number;
                        /** @description Answers with status 3xx. */
                        "3xx": number;
                        /** @description Answers with status 4xx. */
                        "4xx": number;
                        /** @description Answers with status 5xx. */
                        "5xx": number;
                    };
                    /** @description Seconds in all. */
                    request_seconds: number;
                    /** @description How many requests took how long, from the shortest bound on. Those above all are in `requests` alone. */
                    request_durations: {
                        /** @description A bound of durations. */
                        within_seconds: number;
                        /** @description Requests that took no longer. */
                        count: number;
                    }[];
                    /** @description Wakes for traffic of the service, by how the VM came up. */
                    wakes: {
                        boot: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                        template: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                        restore: {
                            /** @description Wakes. */
                            count: number;
                            /** @description Seconds in all. */
                            seconds: number;
                        };
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetServiceUsageObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /**
             * @description Length of a step: `5s` for the last hour, `5m` for the last 30 days; default `5s`.
             * @enum {string|null}
             */
            step?: "5s" | "5m" | null;
            /** @description Length of the time that is told, in steps up to now; default all that are kept. Of all objects of a request together at most 8640. */
            limit?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetServiceUsageParameters: {
            /**
             * @description Length of a step: `5s` for the last hour, `5m` for the last 30 days; default `5s`.
             * @enum {string|null}
             */
            step?: "5s" | "5m" | null;
            /** @description Length of the time that is told, in steps up to now; default all that are kept. Of all objects of a request together at most 8640. */
            limit?: number | null;
        };
        GetServiceUsageAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description Length of a step.
                     * @enum {string}
                     */
                    step: "5s" | "5m";
                    /** @description Steps from the oldest to the newest. A step is left out if nothing was seen in it: nothing ran, or the host was away. */
                    usage: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description For how much of the step it was watched; of a service the sum over its instances. */
                        seen_ms: number;
                        /** @description Memory at the last sample in the step. */
                        rss_bytes: number;
                        /** @description Processor time. */
                        cpu_time_ms: number;
                        /** @description Bytes received. */
                        rx_bytes: number;
                        /** @description Packets received. */
                        rx_packets: number;
                        /** @description Bytes sent. */
                        tx_bytes: number;
                        /** @description Packets sent. */
                        tx_packets: number;
                        /** @description Connections and requests that ended. */
                        nrequests: number;
                        /** @description Wakes from standby. */
                        nwakes: number;
                        /** @description Requests in flight, times how long they were: 3 of them for 5 s are 15000. */
                        in_flight_ms: number;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description Length of a step.
                     * @enum {string}
                     */
                    step: "5s" | "5m";
                    /** @description Steps from the oldest to the newest. A step is left out if nothing was seen in it: nothing ran, or the host was away. */
                    usage: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description For how much of the step it was watched; of a service the sum over its instances. */
                        seen_ms: number;
                        /** @description Memory at the last sample in the step. */
                        rss_bytes: number;
                        /** @description Processor time. */
                        cpu_time_ms: number;
                        /** @description Bytes received. */
                        rx_bytes: number;
                        /** @description Packets received. */
                        rx_packets: number;
                        /** @description Bytes sent. */
                        tx_bytes: number;
                        /** @description Packets sent. */
                        tx_packets: number;
                        /** @description Connections and requests that ended. */
                        nrequests: number;
                        /** @description Wakes from standby. */
                        nwakes: number;
                        /** @description Requests in flight, times how long they were: 3 of them for 5 s are 15000. */
                        in_flight_ms: number;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateRolloutsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            image?: string | null;
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            args?: string | string[] | null;
            /** @description Environment variables. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            memory_mb?: number | null;
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            vcpus?: number | null;
            /** @description Variables to be added. */
            add?: {
                /** @description Environment variables. */
                env?: {
                    [key: string]: string;
                } | null;
            } | null;
            /** @description Variables to be removed. */
            del?: {
                /** @description Names of variables. */
                env?: string | string[] | null;
            } | null;
            /** @description Properties that get their defaults again. */
            clear?: ("args" | "env")[] | null;
            /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
            canary?: number[] | null;
            /** @description How long each step is watched, in seconds; default 30. */
            bake_s?: number | null;
            /** @description When a new instance counts as healthy. */
            check?: {
                /** @description The application's port; default: that of the first port that the service publishes. */
                port?: number | null;
                /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                path?: string | null;
                /** @description The wanted status; default 200 to 399. */
                status?: number | null;
                /** @description How many checks in a row have to succeed; default 1. */
                times?: number | null;
                /** @description The time between two checks; default 1000. */
                interval_ms?: number | null;
                /** @description The longest time of one check; default 2000. */
                timeout_ms?: number | null;
                /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                limit_s?: number | null;
            } | null;
            /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
            max_error_percent?: number | null;
            /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
            max_latency_ms?: number | null;
            /** @description How long the old version is kept, stopped, as the way back; default 3600. */
            keep_s?: number | null;
            /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
            supersede?: boolean | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        CreateRolloutsParameters: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Image reference; a tag is pinned to the digest that it has now. */
            image?: string | null;
            /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
            args?: string | string[] | null;
            /** @description Environment variables. */
            env?: {
                [key: string]: string;
            } | null;
            /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
            memory_mb?: number | null;
            /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
            vcpus?: number | null;
            /** @description Variables to be added. */
            add?: {
                /** @description Environment variables. */
                env?: {
                    [key: string]: string;
                } | null;
            } | null;
            /** @description Variables to be removed. */
            del?: {
                /** @description Names of variables. */
                env?: string | string[] | null;
            } | null;
            /** @description Properties that get their defaults again. */
            clear?: ("args" | "env")[] | null;
            /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
            canary?: number[] | null;
            /** @description How long each step is watched, in seconds; default 30. */
            bake_s?: number | null;
            /** @description When a new instance counts as healthy. */
            check?: {
                /** @description The application's port; default: that of the first port that the service publishes. */
                port?: number | null;
                /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                path?: string | null;
                /** @description The wanted status; default 200 to 399. */
                status?: number | null;
                /** @description How many checks in a row have to succeed; default 1. */
                times?: number | null;
                /** @description The time between two checks; default 1000. */
                interval_ms?: number | null;
                /** @description The longest time of one check; default 2000. */
                timeout_ms?: number | null;
                /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                limit_s?: number | null;
            } | null;
            /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
            max_error_percent?: number | null;
            /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
            max_latency_ms?: number | null;
            /** @description How long the old version is kept, stopped, as the way back; default 3600. */
            keep_s?: number | null;
            /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
            supersede?: boolean | null;
        };
        CreateRolloutsAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The `id` of the object. */
                    id?: string;
                    rollout: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The `id` of the object. */
                    id?: string;
                    rollout: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetRolloutsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Most rollouts of each service to return; default 10. */
            limit?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetRolloutsParameters: {
            /** @description Most rollouts of each service to return; default 10. */
            limit?: number | null;
        };
        GetRolloutsAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The newest first. */
                    rollouts: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description The newest first. */
                    rollouts: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        RollBackServicesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        RollBackServicesAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    rollout: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    rollout: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        created_at: string;
                        /**
                         * @description How far it is.
                         * @enum {string}
                         */
                        phase: "preparing" | "baking" | "kept" | "returning" | "done" | "returned";
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description The share of the traffic that the new version gets; absent if none is divided. */
                        percent?: number;
                        /** @description The number of the present step, from 1. */
                        step: number;
                        /** @description Why it goes or went back. */
                        reason?: string;
                        /** @description What is other than before, without secrets. */
                        changes: string[];
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        kept_until?: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        canary: number[];
                        /** @description How long each step is watched. */
                        bake_s: number;
                        /** @description The bound of failed requests, in percent. */
                        max_error_percent: number;
                        /** @description The bound of the time of requests. */
                        max_latency_ms?: number;
                        /** @description How long the old version is kept. */
                        keep_s: number;
                        check: {
                            /** @description The application's port. */
                            port: number;
                            /** @description The path that is asked for by HTTP. */
                            path?: string;
                            /** @description The wanted status. */
                            status?: number;
                            /** @description How many checks in a row have to succeed. */
                            times: number;
                            /** @description The time between two checks. */
                            interval_ms: number;
                            /** @description The longest time of one check. */
                            timeout_ms: number;
                            /** @description Within so many seconds an instance has to be healthy. */
                            limit_s: number;
                        };
                        new_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                        old_instances?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        }[];
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateAutoscaleObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Fewest instances; default 1. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            min_size?: number | null;
            /** @description Most instances; default 4. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            max_size?: number | null;
            /** @description How long a new instance runs before it counts for the metric; default 1000. */
            warmup_time_ms?: number | null;
            /** @description How long an instance that is given back may drain at most; default 1000. */
            cooldown_time_ms?: number | null;
            /** @description Policies to begin with. */
            policies?: {
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name: string;
                /**
                 * @description The one type of policy that there is.
                 * @enum {string}
                 */
                type: "step";
                /**
                 * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second; default cpu.
                 * @enum {string|null}
                 */
                metric?: "cpu" | "in_flight" | "requests_per_second" | null;
                /**
                 * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent; default change. `absolute` is another word for `exact`.
                 * @enum {string|null}
                 */
                adjustment_type?: "change" | "exact" | "percent" | "absolute" | null;
                /** @description Ascending, without gap or overlap. */
                steps: ({
                    /** @description Least value of the step, from 0 to 1000000000; absent or null: open on this side. */
                    lower_bound?: number | null;
                    /** @description Where the step ends; the value itself belongs to the next one, from 0 to 1000000000; absent or null: open on this side. */
                    upper_bound?: number | null;
                    /** @description From -1000000 to 1000000; negative ones give instances back. */
                    adjustment: number;
                } | {
                    lower_bound: string | number;
                } | {
                    upper_bound: string | number;
                })[];
            }[] | null;
            /** @description The instance that is cloned. It is attached to the service. */
            master: {
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        CreateAutoscaleParameters: {
            /** @description Fewest instances; default 1. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            min_size?: number | null;
            /** @description Most instances; default 4. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            max_size?: number | null;
            /** @description How long a new instance runs before it counts for the metric; default 1000. */
            warmup_time_ms?: number | null;
            /** @description How long an instance that is given back may drain at most; default 1000. */
            cooldown_time_ms?: number | null;
            /** @description Policies to begin with. */
            policies?: {
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name: string;
                /**
                 * @description The one type of policy that there is.
                 * @enum {string}
                 */
                type: "step";
                /**
                 * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second; default cpu.
                 * @enum {string|null}
                 */
                metric?: "cpu" | "in_flight" | "requests_per_second" | null;
                /**
                 * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent; default change. `absolute` is another word for `exact`.
                 * @enum {string|null}
                 */
                adjustment_type?: "change" | "exact" | "percent" | "absolute" | null;
                /** @description Ascending, without gap or overlap. */
                steps: ({
                    /** @description Least value of the step, from 0 to 1000000000; absent or null: open on this side. */
                    lower_bound?: number | null;
                    /** @description Where the step ends; the value itself belongs to the next one, from 0 to 1000000000; absent or null: open on this side. */
                    upper_bound?: number | null;
                    /** @description From -1000000 to 1000000; negative ones give instances back. */
                    adjustment: number;
                } | {
                    lower_bound: string | number;
                } | {
                    upper_bound: string | number;
                })[];
            }[] | null;
            /** @description The instance that is cloned. It is attached to the service. */
            master: {
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
        };
        CreateAutoscaleAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetAutoscaleObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetAutoscaleAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /**
                     * @description Whether there is a configuration.
                     * @enum {string}
                     */
                    status: "success" | "unconfigured";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Autoscale is enabled. */
                    enabled?: boolean;
                    /** @description Fewest instances. */
                    min_size?: number;
                    /** @description Most instances. */
                    max_size?: number;
                    /** @description Time before a new instance counts for the metric. */
                    warmup_time_ms?: number;
                    /** @description The most time to drain of one that is given back. */
                    cooldown_time_ms?: number;
                    master?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    };
                    policies?: {
                        /** @description Name of the policy, at most 31 characters. */
                        name: string;
                        /**
                         * @description The one type of policy that there is.
                         * @enum {string}
                         */
                        type: "step";
                        enabled: boolean;
                        /**
                         * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second.
                         * @enum {string}
                         */
                        metric: "cpu" | "in_flight" | "requests_per_second";
                        /**
                         * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent.
                         * @enum {string}
                         */
                        adjustment_type: "change" | "exact" | "percent";
                        steps: {
                            /** @description Least value of the step. */
                            lower_bound?: number;
                            /** @description Where the next step begins. */
                            upper_bound?: number;
                            adjustment: number;
                        }[];
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /**
                     * @description Whether there is a configuration.
                     * @enum {string}
                     */
                    status: "success" | "unconfigured";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /** @description Autoscale is enabled. */
                    enabled?: boolean;
                    /** @description Fewest instances. */
                    min_size?: number;
                    /** @description Most instances. */
                    max_size?: number;
                    /** @description Time before a new instance counts for the metric. */
                    warmup_time_ms?: number;
                    /** @description The most time to drain of one that is given back. */
                    cooldown_time_ms?: number;
                    master?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    };
                    policies?: {
                        /** @description Name of the policy, at most 31 characters. */
                        name: string;
                        /**
                         * @description The one type of policy that there is.
                         * @enum {string}
                         */
                        type: "step";
                        enabled: boolean;
                        /**
                         * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second.
                         * @enum {string}
                         */
                        metric: "cpu" | "in_flight" | "requests_per_second";
                        /**
                         * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent.
                         * @enum {string}
                         */
                        adjustment_type: "change" | "exact" | "percent";
                        steps: {
                            /** @description Least value of the step. */
                            lower_bound?: number;
                            /** @description Where the next step begins. */
                            upper_bound?: number;
                            adjustment: number;
                        }[];
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteAutoscaleObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteAutoscaleAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainAutoscaleObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainAutoscaleAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description Whether the service has a configuration, or one that is being closed.
                     * @enum {string}
                     */
                    state: "no" | "yes" | "closing";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description Why only what is recorded is told; absent if all that was asked answered. */
                    note?: string;
                    /** @description Instances that count. */
                    size: number;
                    /** @description The size that was decided on. */
                    target?: number;
                    /** @description The master and its clones, in the order of their creation. */
                    members: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                        /** @description Whether it is the instance that is cloned. */
                        master: boolean;
                        /** @description The host on which it is placed. */
                        host: string;
                        /**
                         * @description Current state.
                         * @enum {string}
                         */
                        state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                        /**
                         * @description How autoscale counts it.
                         * @enum {string}
                         */
                        standing: "counted" | "asleep" | "warming" | "restarting" | "failed" | "down" | "away";
                        /** @description Why it is to be replaced. */
                        failure?: string;
                        load?: {
                            cpu: number;
                            in_flight: number;
                            requests_per_second: number;
                        };
                    }[];
                    /** @description Names of clones that were given back and still exist. */
                    leaving: string[];
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    measured_at?: string;
                    metrics?: {
                        cpu: number;
                        in_flight: number;
                        requests_per_second: number;
                    };
                    /** @description The last decisions, the newest first. */
                    decisions: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description What was decided and why. */
                        what: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description Whether the service has a configuration, or one that is being closed.
                     * @enum {string}
                     */
                    state: "no" | "yes" | "closing";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description Why only what is recorded is told; absent if all that was asked answered. */
                    note?: string;
                    /** @description Instances that count. */
                    size: number;
                    /** @description The size that was decided on. */
                    target?: number;
                    /** @description The master and its clones, in the order of their creation. */
                    members: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                        /** @description Whether it is the instance that is cloned. */
                        master: boolean;
                        /** @description The host on which it is placed. */
                        host: string;
                        /**
                         * @description Current state.
                         * @enum {string}
                         */
                        state: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                        /**
                         * @description How autoscale counts it.
                         * @enum {string}
                         */
                        standing: "counted" | "asleep" | "warming" | "restarting" | "failed" | "down" | "away";
                        /** @description Why it is to be replaced. */
                        failure?: string;
                        load?: {
                            cpu: number;
                            in_flight: number;
                            requests_per_second: number;
                        };
                    }[];
                    /** @description Names of clones that were given back and still exist. */
                    leaving: string[];
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    measured_at?: string;
                    metrics?: {
                        cpu: number;
                        in_flight: number;
                        requests_per_second: number;
                    };
                    /** @description The last decisions, the newest first. */
                    decisions: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        /** @description What was decided and why. */
                        what: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        TryAutoscaleObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Fewest instances; default 1. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            min_size?: number | null;
            /** @description Most instances; default 4. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            max_size?: number | null;
            /** @description How long a new instance runs before it counts for the metric; default 1000. */
            warmup_time_ms?: number | null;
            /** @description How long an instance that is given back may drain at most; default 1000. */
            cooldown_time_ms?: number | null;
            /** @description Policies to begin with. */
            policies?: {
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name: string;
                /**
                 * @description The one type of policy that there is.
                 * @enum {string}
                 */
                type: "step";
                /**
                 * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second; default cpu.
                 * @enum {string|null}
                 */
                metric?: "cpu" | "in_flight" | "requests_per_second" | null;
                /**
                 * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent; default change. `absolute` is another word for `exact`.
                 * @enum {string|null}
                 */
                adjustment_type?: "change" | "exact" | "percent" | "absolute" | null;
                /** @description Ascending, without gap or overlap. */
                steps: ({
                    /** @description Least value of the step, from 0 to 1000000000; absent or null: open on this side. */
                    lower_bound?: number | null;
                    /** @description Where the step ends; the value itself belongs to the next one, from 0 to 1000000000; absent or null: open on this side. */
                    upper_bound?: number | null;
                    /** @description From -1000000 to 1000000; negative ones give instances back. */
                    adjustment: number;
                } | {
                    lower_bound: string | number;
                } | {
                    upper_bound: string | number;
                })[];
            }[] | null;
            /**
             * @description The recorded time: the last hour by steps of 5 s, or the last day by steps of 5 min; default `1h`.
             * @enum {string|null}
             */
            last?: "1h" | "1d" | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        TryAutoscaleParameters: {
            /** @description Fewest instances; default 1. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            min_size?: number | null;
            /** @description Most instances; default 4. The account's limits are narrower: `limits.min_autoscale_size` to `limits.max_autoscale_size` in `GET /v1/users/quotas`. */
            max_size?: number | null;
            /** @description How long a new instance runs before it counts for the metric; default 1000. */
            warmup_time_ms?: number | null;
            /** @description How long an instance that is given back may drain at most; default 1000. */
            cooldown_time_ms?: number | null;
            /** @description Policies to begin with. */
            policies?: {
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name: string;
                /**
                 * @description The one type of policy that there is.
                 * @enum {string}
                 */
                type: "step";
                /**
                 * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second; default cpu.
                 * @enum {string|null}
                 */
                metric?: "cpu" | "in_flight" | "requests_per_second" | null;
                /**
                 * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent; default change. `absolute` is another word for `exact`.
                 * @enum {string|null}
                 */
                adjustment_type?: "change" | "exact" | "percent" | "absolute" | null;
                /** @description Ascending, without gap or overlap. */
                steps: ({
                    /** @description Least value of the step, from 0 to 1000000000; absent or null: open on this side. */
                    lower_bound?: number | null;
                    /** @description Where the step ends; the value itself belongs to the next one, from 0 to 1000000000; absent or null: open on this side. */
                    upper_bound?: number | null;
                    /** @description From -1000000 to 1000000; negative ones give instances back. */
                    adjustment: number;
                } | {
                    lower_bound: string | number;
                } | {
                    upper_bound: string | number;
                })[];
            }[] | null;
            /**
             * @description The recorded time: the last hour by steps of 5 s, or the last day by steps of 5 min; default `1h`.
             * @enum {string|null}
             */
            last?: "1h" | "1d" | null;
        };
        TryAutoscaleAnswer: {
            /** @constant */
            status: "success";
            data: {
                service_groups: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description The recorded time: the last hour by steps of 5 s, or the last day by steps of 5 min; default `1h`.
                     * @enum {string}
                     */
                    last: "1h" | "1d";
                    /** @description Length of a step. */
                    step_ms: number;
                    /** @description The result in sentences. */
                    text: string;
                    /** @description Instance seconds that there would have been, with starting and draining ones. */
                    instance_seconds: number;
                    /** @description Instance seconds that there were. */
                    ran_instance_seconds: number;
                    /** @description The fewest instances that there would have been. */
                    smallest_size: number;
                    /** @description The most instances that there would have been. */
                    largest_size: number;
                    /** @description How many times the size would have changed. */
                    resizes: number;
                    /** @description Instance seconds that were missing to what the policies want. */
                    short_seconds: number;
                    /** @description Instance seconds beyond what the policies want. */
                    spare_seconds: number;
                    /** @description For how long the instances that ran used nearly all their processors: more may have been asked of them. */
                    saturated_seconds: number;
                    /** @description `load` is that of all instances together, `metrics` what each would have had. */
                    steps: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        load: {
                            /** @description By cpu. */
                            cpu: number;
                            /** @description By in_flight. */
                            in_flight: number;
                            /** @description By requests_per_second. */
                            requests_per_second: number;
                        };
                        metrics?: {
                            /** @description By cpu. */
                            cpu: number;
                            /** @description By in_flight. */
                            in_flight: number;
                            /** @description By requests_per_second. */
                            requests_per_second: number;
                        };
                        /** @description Instances that there would have been at the end of the step. */
                        size: number;
                        /** @description Instances that ran, in the mean. */
                        ran: number;
                    }[];
                    /** @description What would have been decided and why, the first 500. */
                    decisions: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        what: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                service_groups: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the service. */
                    name: string;
                    /**
                     * @description The recorded time: the last hour by steps of 5 s, or the last day by steps of 5 min; default `1h`.
                     * @enum {string}
                     */
                    last: "1h" | "1d";
                    /** @description Length of a step. */
                    step_ms: number;
                    /** @description The result in sentences. */
                    text: string;
                    /** @description Instance seconds that there would have been, with starting and draining ones. */
                    instance_seconds: number;
                    /** @description Instance seconds that there were. */
                    ran_instance_seconds: number;
                    /** @description The fewest instances that there would have been. */
                    smallest_size: number;
                    /** @description The most instances that there would have been. */
                    largest_size: number;
                    /** @description How many times the size would have changed. */
                    resizes: number;
                    /** @description Instance seconds that were missing to what the policies want. */
                    short_seconds: number;
                    /** @description Instance seconds beyond what the policies want. */
                    spare_seconds: number;
                    /** @description For how long the instances that ran used nearly all their processors: more may have been asked of them. */
                    saturated_seconds: number;
                    /** @description `load` is that of all instances together, `metrics` what each would have had. */
                    steps: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        load: {
                            /** @description By cpu. */
                            cpu: number;
                            /** @description By in_flight. */
                            in_flight: number;
                            /** @description By requests_per_second. */
                            requests_per_second: number;
                        };
                        metrics?: {
                            /** @description By cpu. */
                            cpu: number;
                            /** @description By in_flight. */
                            in_flight: number;
                            /** @description By requests_per_second. */
                            requests_per_second: number;
                        };
                        /** @description Instances that there would have been at the end of the step. */
                        size: number;
                        /** @description Instances that ran, in the mean. */
                        ran: number;
                    }[];
                    /** @description What would have been decided and why, the first 500. */
                    decisions: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        at: string;
                        what: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        AddAutoscalePoliciesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name: string;
            /**
             * @description The one type of policy that there is.
             * @enum {string}
             */
            type: "step";
            /**
             * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second; default cpu.
             * @enum {string|null}
             */
            metric?: "cpu" | "in_flight" | "requests_per_second" | null;
            /**
             * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent; default change. `absolute` is another word for `exact`.
             * @enum {string|null}
             */
            adjustment_type?: "change" | "exact" | "percent" | "absolute" | null;
            /** @description Ascending, without gap or overlap. */
            steps: ({
                /** @description Least value of the step, from 0 to 1000000000; absent or null: open on this side. */
                lower_bound?: number | null;
                /** @description Where the step ends; the value itself belongs to the next one, from 0 to 1000000000; absent or null: open on this side. */
                upper_bound?: number | null;
                /** @description From -1000000 to 1000000; negative ones give instances back. */
                adjustment: number;
            } | {
                lower_bound: string | number;
            } | {
                upper_bound: string | number;
            })[];
        };
        AddAutoscalePoliciesAnswer: {
            /** @constant */
            status: "success";
            data: {
                policies: {
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                policies: ({
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetAutoscalePoliciesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        GetAutoscalePoliciesAnswer: {
            /** @constant */
            status: "success";
            data: {
                policies: {
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                    /**
                     * @description The one type of policy that there is.
                     * @enum {string}
                     */
                    type: "step";
                    enabled: boolean;
                    /**
                     * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second.
                     * @enum {string}
                     */
                    metric: "cpu" | "in_flight" | "requests_per_second";
                    /**
                     * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent.
                     * @enum {string}
                     */
                    adjustment_type: "change" | "exact" | "percent";
                    steps: {
                        /** @description Least value of the step. */
                        lower_bound?: number;
                        /** @description Where the next step begins. */
                        upper_bound?: number;
                        adjustment: number;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                policies: ({
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                    /**
                     * @description The one type of policy that there is.
                     * @enum {string}
                     */
                    type: "step";
                    enabled: boolean;
                    /**
                     * @description What is looked at, as the mean per instance: `cpu` in millicores, requests and connections in flight, or those finished per second.
                     * @enum {string}
                     */
                    metric: "cpu" | "in_flight" | "requests_per_second";
                    /**
                     * @description Whether `adjustment` is a change of the number of instances, that number itself, or a share of it in percent.
                     * @enum {string}
                     */
                    adjustment_type: "change" | "exact" | "percent";
                    steps: {
                        /** @description Least value of the step. */
                        lower_bound?: number;
                        /** @description Where the next step begins. */
                        upper_bound?: number;
                        adjustment: number;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteAutoscalePoliciesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        DeleteAutoscalePoliciesAnswer: {
            /** @constant */
            status: "success";
            data: {
                policies: {
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                policies: ({
                    /** @constant */
                    status: "success";
                    /** @description Name of the policy, at most 31 characters. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateCertificatesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Common name: the domain that it is for, or a wildcard of one label; a final dot says nothing. */
            cn: string;
            /** @description PEM: the certificate and those that lead to its issuer, in any order. The root can be left out. */
            chain: string;
            /** @description PEM: the private key, RSA or EC, without a passphrase. It is never returned. */
            pkey: string;
        };
        CreateCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetCertificatesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description Without a final dot. */
                    common_name?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "pending" | "valid" | "error";
                    /** @description Why the state is `error`, or the last attempt to get or renew the certificate failed. */
                    reason?: string;
                    /** @description Only while the state is `pending`. */
                    validation?: {
                        /** @description Attempts made. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description The next attempt.
                         */
                        next?: string;
                    };
                    /** @description As in RFC 4514. */
                    subject?: string;
                    /** @description As in RFC 4514. */
                    issuer?: string;
                    /** @description Hexadecimal, in upper case. */
                    serial_number?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_before?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_after?: string;
                    /** @description Services with domains that it serves. */
                    service_groups?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description Without a final dot. */
                    common_name?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "pending" | "valid" | "error";
                    /** @description Why the state is `error`, or the last attempt to get or renew the certificate failed. */
                    reason?: string;
                    /** @description Only while the state is `pending`. */
                    validation?: {
                        /** @description Attempts made. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description The next attempt.
                         */
                        next?: string;
                    };
                    /** @description As in RFC 4514. */
                    subject?: string;
                    /** @description As in RFC 4514. */
                    issuer?: string;
                    /** @description Hexadecimal, in upper case. */
                    serial_number?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_before?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_after?: string;
                    /** @description Services with domains that it serves. */
                    service_groups?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        UpdateCertificatesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description PEM: the certificate and those that lead to its issuer, in any order. The root can be left out. */
            chain: string;
            /** @description PEM: the private key, RSA or EC, without a passphrase. It is never returned. */
            pkey: string;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        UpdateCertificatesParameters: {
            /** @description PEM: the certificate and those that lead to its issuer, in any order. The root can be left out. */
            chain: string;
            /** @description PEM: the private key, RSA or EC, without a passphrase. It is never returned. */
            pkey: string;
        };
        UpdateCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description Without a final dot. */
                    common_name?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "pending" | "valid" | "error";
                    /** @description Why the state is `error`, or the last attempt to get or renew the certificate failed. */
                    reason?: string;
                    /** @description Only while the state is `pending`. */
                    validation?: {
                        /** @description Attempts made. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description The next attempt.
                         */
                        next?: string;
                    };
                    /** @description As in RFC 4514. */
                    subject?: string;
                    /** @description As in RFC 4514. */
                    issuer?: string;
                    /** @description Hexadecimal, in upper case. */
                    serial_number?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_before?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_after?: string;
                    /** @description Services with domains that it serves. */
                    service_groups?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description Without a final dot. */
                    common_name?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "pending" | "valid" | "error";
                    /** @description Why the state is `error`, or the last attempt to get or renew the certificate failed. */
                    reason?: string;
                    /** @description Only while the state is `pending`. */
                    validation?: {
                        /** @description Attempts made. */
                        attempt: number;
                        /**
                         * Format: date-time
                         * @description The next attempt.
                         */
                        next?: string;
                    };
                    /** @description As in RFC 4514. */
                    subject?: string;
                    /** @description As in RFC 4514. */
                    issuer?: string;
                    /** @description Hexadecimal, in upper case. */
                    serial_number?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_before?: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    not_after?: string;
                    /** @description Services with domains that it serves. */
                    service_groups?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        name: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteCertificatesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListCertificatesObject: {
            /** @description Only certificates with exactly this common name. */
            common_name?: string | null;
        };
        ListCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainCertificatesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainCertificatesAnswer: {
            /** @constant */
            status: "success";
            data: {
                certificates: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "pending" | "valid" | "error";
                    /** @description Without a final dot. */
                    common_name: string;
                    /**
                     * @description Whether it was uploaded or is got by the platform.
                     * @enum {string}
                     */
                    origin: "uploaded" | "requested";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description The last attempts to get it, the newest first. */
                    attempts: {
                        /** @description The attempts of a certificate are numbered. */
                        number: number;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /** @description The authority that was asked. */
                        authority?: string;
                        /** @description How it ended, such as `issued` or `failed`. */
                        outcome?: string;
                        /** @description Why it did not succeed. */
                        failure?: string;
                        /** @description The problem as the authority wrote it. */
                        problem?: {
                            type: string;
                            detail: string;
                            status?: number;
                        };
                        /** @description What was seen: DNS, CAA records, ports and answers. */
                        seen: string[];
                        /** @description What that means. */
                        means: string[];
                        /** @description What to do, the likeliest to help first. */
                        to_do: string[];
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                certificates: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the certificate. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "pending" | "valid" | "error";
                    /** @description Without a final dot. */
                    common_name: string;
                    /**
                     * @description Whether it was uploaded or is got by the platform.
                     * @enum {string}
                     */
                    origin: "uploaded" | "requested";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description The last attempts to get it, the newest first. */
                    attempts: {
                        /** @description The attempts of a certificate are numbered. */
                        number: number;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /** @description The authority that was asked. */
                        authority?: string;
                        /** @description How it ended, such as `issued` or `failed`. */
                        outcome?: string;
                        /** @description Why it did not succeed. */
                        failure?: string;
                        /** @description The problem as the authority wrote it. */
                        problem?: {
                            type: string;
                            detail: string;
                            status?: number;
                        };
                        /** @description What was seen: DNS, CAA records, ports and answers. */
                        seen: string[];
                        /** @description What that means. */
                        means: string[];
                        /** @description What to do, the likeliest to help first. */
                        to_do: string[];
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateVolumesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Size in MiB. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
            size_mb: number;
        };
        CreateVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetVolumesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error";
                    /** @description Why the state is `error`. */
                    reason?: string;
                    /** @description Size in MiB. */
                    size_mb?: number;
                    /** @description At most one instance. */
                    attached_to?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                    }[];
                    /** @description Instances that are not stopped, or are about to start, with the volume. */
                    mounted_by?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                        /** @description It is mounted, or will be, without the right to write. */
                        readonly: boolean;
                    }[];
                    /** @description It is mounted, or will be, without the right to write. */
                    readonly?: boolean;
                    /** @description It stays when the instance that it is attached to is deleted. */
                    persistent?: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error";
                    /** @description Why the state is `error`. */
                    reason?: string;
                    /** @description Size in MiB. */
                    size_mb?: number;
                    /** @description At most one instance. */
                    attached_to?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                    }[];
                    /** @description Instances that are not stopped, or are about to start, with the volume. */
                    mounted_by?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /** @description Name of the instance. */
                        name: string;
                        /** @description It is mounted, or will be, without the right to write. */
                        readonly: boolean;
                    }[];
                    /** @description It is mounted, or will be, without the right to write. */
                    readonly?: boolean;
                    /** @description It stays when the instance that it is attached to is deleted. */
                    persistent?: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteVolumesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        AttachVolumesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description The instance, which has to be stopped. */
            attach_to: {
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
                /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                at?: string | null;
                /** @description Nothing can be written; default false. */
                readonly?: boolean | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
            /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
            at?: string | null;
            /** @description Nothing can be written; default false. */
            readonly?: boolean | null;
        } & (({
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) & (({
            at: string;
            attach_to?: {
                /** @enum {unknown} */
                at?: null;
            };
        } | {
            /** @enum {unknown} */
            at?: null;
            attach_to?: {
                at: string;
            };
        }) & ({
            /** @enum {unknown} */
            readonly?: null;
        } | {
            attach_to?: {
                /** @enum {unknown} */
                readonly?: null;
            };
        })));
        AttachVolumesParameters: {
            /** @description The instance, which has to be stopped. */
            attach_to: {
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
                /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                at?: string | null;
                /** @description Nothing can be written; default false. */
                readonly?: boolean | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
            /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
            at?: string | null;
            /** @description Nothing can be written; default false. */
            readonly?: boolean | null;
        } & (({
            at: string;
            attach_to?: {
                /** @enum {unknown} */
                at?: null;
            };
        } | {
            /** @enum {unknown} */
            at?: null;
            attach_to?: {
                at: string;
            };
        }) & ({
            /** @enum {unknown} */
            readonly?: null;
        } | {
            attach_to?: {
                /** @enum {unknown} */
                readonly?: null;
            };
        }));
        AttachVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DetachVolumesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description The instance; without it, whichever instance has the volume. */
            from?: (({
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            }) | null) | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DetachVolumesParameters: {
            /** @description The instance; without it, whichever instance has the volume. */
            from?: (({
                /** @description Identifier given at creation. */
                uuid?: string | null;
                /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                name?: string | null;
            } | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            }) | null) | {
                /** @enum {unknown} */
                name?: "" | null;
                uuid: string;
            } | {
                /** @enum {unknown} */
                uuid?: "" | null;
                name: string;
            };
        };
        DetachVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListVolumesObject: {
            /** @description Only volumes that are, or are not, persistent. */
            persistent?: boolean | null;
            /**
             * @description Only volumes in this state.
             * @enum {string|null}
             */
            state?: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error" | null;
        };
        ListVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainVolumesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainVolumesAnswer: {
            /** @constant */
            status: "success";
            data: {
                volumes: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description The host whose disk has it. */
                    host: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                volumes: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the volume. */
                    name: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error";
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                    /** @description The host whose disk has it. */
                    host: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateSchedulesObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Minute, hour, day of the month, month and day of the week, as in a crontab; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. */
            cron: string;
            /** @description Name in the time zone database, such as `Europe/Berlin`; default UTC. */
            time_zone?: string | null;
            /** @description No run begins by itself; default false. */
            paused?: boolean | null;
            /** @description A run that was missed is made up for within so many seconds; default 60. */
            catch_up_s?: number | null;
            /**
             * @description What happens to a run that is due while an earlier one is under way; default skip.
             * @enum {string|null}
             */
            overlap?: "skip" | "queue" | "allow" | "cancel" | null;
            /** @description What each run does. */
            action: {
                start?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                } | null;
                stop?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                    /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
                    drain_timeout_ms?: number | null;
                } | null;
                /** @description The instance that each run makes, waits for and deletes. */
                run?: {
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image: string;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description The volume that is mounted at every start. */
                    volumes?: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                        size_mb?: number | null;
                        /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                        at: string;
                        /** @description Nothing can be written; default false. */
                        readonly?: boolean | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        name: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        name?: "" | null;
                        size_mb: string | number;
                    })[] | null;
                    /** @description After so many seconds the instance is stopped, and the run has failed; default 3600. */
                    timeout_s?: number | null;
                } | null;
                /** @description A rollout of the service that has the name at the time of a run. The run lasts until the new version serves, or has gone back. */
                rollout?: {
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    service: string;
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image?: string | null;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description Variables to be added. */
                    add?: {
                        /** @description Environment variables. */
                        env?: {
                            [key: string]: string;
                        } | null;
                    } | null;
                    /** @description Variables to be removed. */
                    del?: {
                        /** @description Names of variables. */
                        env?: string | string[] | null;
                    } | null;
                    /** @description Properties that get their defaults again. */
                    clear?: ("args" | "env")[] | null;
                    /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
                    canary?: number[] | null;
                    /** @description How long each step is watched, in seconds; default 30. */
                    bake_s?: number | null;
                    /** @description When a new instance counts as healthy. */
                    check?: {
                        /** @description The application's port; default: that of the first port that the service publishes. */
                        port?: number | null;
                        /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                        path?: string | null;
                        /** @description The wanted status; default 200 to 399. */
                        status?: number | null;
                        /** @description How many checks in a row have to succeed; default 1. */
                        times?: number | null;
                        /** @description The time between two checks; default 1000. */
                        interval_ms?: number | null;
                        /** @description The longest time of one check; default 2000. */
                        timeout_ms?: number | null;
                        /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                        limit_s?: number | null;
                    } | null;
                    /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
                    max_error_percent?: number | null;
                    /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
                    max_latency_ms?: number | null;
                    /** @description How long the old version is kept, stopped, as the way back; default 3600. */
                    keep_s?: number | null;
                    /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
                    supersede?: boolean | null;
                } | null;
            } | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            };
        };
        CreateSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetSchedulesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description The expression, as it was written. */
                    cron?: string;
                    /** @description The time zone of the expression. */
                    time_zone?: string;
                    /** @description No run begins by itself. */
                    paused?: boolean;
                    /** @description Within so many seconds a missed run is made up for. */
                    catch_up_s?: number;
                    /**
                     * @description What happens to a run that is due while another is under way.
                     * @enum {string}
                     */
                    overlap?: "skip" | "queue" | "allow" | "cancel";
                    action?: {
                        start?: {
                            /** @description Names of instances. */
                            instances: string[];
                        };
                        stop?: {
                            /** @description Names of instances. */
                            instances: string[];
                            /** @description How long connections may drain. */
                            drain_timeout_ms: number;
                        };
                        run?: {
                            /** @description `<name>@sha256:<hex>`; official images have no user in front. */
                            image: string;
                            args?: string[];
                            env: {
                                [key: string]: string;
                            };
                            /** @description Memory in MiB. */
                            memory_mb: number;
                            /** @description Virtual CPUs. */
                            vcpus: number;
                            volumes: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid?: string;
                                name?: string;
                                /** @description Size in MiB of the volume that each run makes. */
                                size_mb?: number;
                                /** @description Path of the mount. */
                                at: string;
                                readonly: boolean;
                            }[];
                            /** @description The most seconds that a run may take. */
                            timeout_s: number;
                        };
                        rollout?: {
                            /** @description Name of the service. */
                            service: string;
                            /** @description `<name>@sha256:<hex>`. */
                            image?: string;
                            args?: string[];
                            env?: {
                                [key: string]: string;
                            };
                            add?: {
                                env: {
                                    [key: string]: string;
                                };
                            };
                            del?: {
                                env: string[];
                            };
                            /** @description Memory in MiB. */
                            memory_mb?: number;
                            /** @description Virtual CPUs. */
                            vcpus?: number;
                            canary: number[];
                            /** @description How long each step is watched. */
                            bake_s: number;
                            /** @description The bound of failed requests, in percent. */
                            max_error_percent: number;
                            /** @description The bound of the time of requests. */
                            max_latency_ms?: number;
                            /** @description How long the old version is kept. */
                            keep_s: number;
                            check: {
                                /** @description The application's port. */
                                port?: number;
                                /** @description The path that is asked for by HTTP. */
                                path?: string;
                                /** @description The wanted status. */
                                status?: number;
                                /** @description How many checks in a row have to succeed. */
                                times: number;
                                /** @description The time between two checks. */
                                interval_ms: number;
                                /** @description The longest time of one check. */
                                timeout_ms: number;
                                /** @description Within so many seconds an instance has to be healthy. */
                                limit_s: number;
                            };
                            supersede: boolean;
                        };
                    };
                    /** @description The next times; empty while it is paused. */
                    next_runs?: string[];
                    /** @description Absent if none began yet. */
                    last_run?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        scheduled_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /**
                         * @description What became of the run.
                         * @enum {string}
                         */
                        result: "running" | "succeeded" | "failed";
                        /** @description Why it succeeded or failed; absent while it runs. */
                        reason?: string;
                        /** @description The instance that the run made. It is deleted when the run is over. */
                        instance?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        };
                        /** @description The application's exit code. */
                        exit_code?: number;
                        /** @description Origin of the stop, as bits. */
                        stop_reason?: number;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at?: string;
                    /** @description The expression, as it was written. */
                    cron?: string;
                    /** @description The time zone of the expression. */
                    time_zone?: string;
                    /** @description No run begins by itself. */
                    paused?: boolean;
                    /** @description Within so many seconds a missed run is made up for. */
                    catch_up_s?: number;
                    /**
                     * @description What happens to a run that is due while another is under way.
                     * @enum {string}
                     */
                    overlap?: "skip" | "queue" | "allow" | "cancel";
                    action?: {
                        start?: {
                            /** @description Names of instances. */
                            instances: string[];
                        };
                        stop?: {
                            /** @description Names of instances. */
                            instances: string[];
                            /** @description How long connections may drain. */
                            drain_timeout_ms: number;
                        };
                        run?: {
                            /** @description `<name>@sha256:<hex>`; official images have no user in front. */
                            image: string;
                            args?: string[];
                            env: {
                                [key: string]: string;
                            };
                            /** @description Memory in MiB. */
                            memory_mb: number;
                            /** @description Virtual CPUs. */
                            vcpus: number;
                            volumes: {
                                /**
                                 * Format: uuid
                                 * @description Identifier given at creation.
                                 */
                                uuid?: string;
                                name?: string;
                                /** @description Size in MiB of the volume that each run makes. */
                                size_mb?: number;
                                /** @description Path of the mount. */
                                at: string;
                                readonly: boolean;
                            }[];
                            /** @description The most seconds that a run may take. */
                            timeout_s: number;
                        };
                        rollout?: {
                            /** @description Name of the service. */
                            service: string;
                            /** @description `<name>@sha256:<hex>`. */
                            image?: string;
                            args?: string[];
                            env?: {
                                [key: string]: string;
                            };
                            add?: {
                                env: {
                                    [key: string]: string;
                                };
                            };
                            del?: {
                                env: string[];
                            };
                            /** @description Memory in MiB. */
                            memory_mb?: number;
                            /** @description Virtual CPUs. */
                            vcpus?: number;
                            canary: number[];
                            /** @description How long each step is watched. */
                            bake_s: number;
                            /** @description The bound of failed requests, in percent. */
                            max_error_percent: number;
                            /** @description The bound of the time of requests. */
                            max_latency_ms?: number;
                            /** @description How long the old version is kept. */
                            keep_s: number;
                            check: {
                                /** @description The application's port. */
                                port?: number;
                                /** @description The path that is asked for by HTTP. */
                                path?: string;
                                /** @description The wanted status. */
                                status?: number;
                                /** @description How many checks in a row have to succeed. */
                                times: number;
                                /** @description The time between two checks. */
                                interval_ms: number;
                                /** @description The longest time of one check. */
                                timeout_ms: number;
                                /** @description Within so many seconds an instance has to be healthy. */
                                limit_s: number;
                            };
                            supersede: boolean;
                        };
                    };
                    /** @description The next times; empty while it is paused. */
                    next_runs?: string[];
                    /** @description Absent if none began yet. */
                    last_run?: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        scheduled_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /**
                         * @description What became of the run.
                         * @enum {string}
                         */
                        result: "running" | "succeeded" | "failed";
                        /** @description Why it succeeded or failed; absent while it runs. */
                        reason?: string;
                        /** @description The instance that the run made. It is deleted when the run is over. */
                        instance?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        };
                        /** @description The application's exit code. */
                        exit_code?: number;
                        /** @description Origin of the stop, as bits. */
                        stop_reason?: number;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        UpdateSchedulesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Minute, hour, day of the month, month and day of the week, as in a crontab; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. */
            cron?: string | null;
            /** @description Name in the time zone database, such as `Europe/Berlin`; default UTC. */
            time_zone?: string | null;
            /** @description No run begins by itself; default false. */
            paused?: boolean | null;
            /** @description A run that was missed is made up for within so many seconds; default 60. */
            catch_up_s?: number | null;
            /**
             * @description What happens to a run that is due while an earlier one is under way; default skip.
             * @enum {string|null}
             */
            overlap?: "skip" | "queue" | "allow" | "cancel" | null;
            /** @description What each run does. */
            action?: (({
                start?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                } | null;
                stop?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                    /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
                    drain_timeout_ms?: number | null;
                } | null;
                /** @description The instance that each run makes, waits for and deletes. */
                run?: {
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image: string;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description The volume that is mounted at every start. */
                    volumes?: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                        size_mb?: number | null;
                        /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                        at: string;
                        /** @description Nothing can be written; default false. */
                        readonly?: boolean | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        name: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        name?: "" | null;
                        size_mb: string | number;
                    })[] | null;
                    /** @description After so many seconds the instance is stopped, and the run has failed; default 3600. */
                    timeout_s?: number | null;
                } | null;
                /** @description A rollout of the service that has the name at the time of a run. The run lasts until the new version serves, or has gone back. */
                rollout?: {
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    service: string;
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image?: string | null;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description Variables to be added. */
                    add?: {
                        /** @description Environment variables. */
                        env?: {
                            [key: string]: string;
                        } | null;
                    } | null;
                    /** @description Variables to be removed. */
                    del?: {
                        /** @description Names of variables. */
                        env?: string | string[] | null;
                    } | null;
                    /** @description Properties that get their defaults again. */
                    clear?: ("args" | "env")[] | null;
                    /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
                    canary?: number[] | null;
                    /** @description How long each step is watched, in seconds; default 30. */
                    bake_s?: number | null;
                    /** @description When a new instance counts as healthy. */
                    check?: {
                        /** @description The application's port; default: that of the first port that the service publishes. */
                        port?: number | null;
                        /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                        path?: string | null;
                        /** @description The wanted status; default 200 to 399. */
                        status?: number | null;
                        /** @description How many checks in a row have to succeed; default 1. */
                        times?: number | null;
                        /** @description The time between two checks; default 1000. */
                        interval_ms?: number | null;
                        /** @description The longest time of one check; default 2000. */
                        timeout_ms?: number | null;
                        /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                        limit_s?: number | null;
                    } | null;
                    /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
                    max_error_percent?: number | null;
                    /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
                    max_latency_ms?: number | null;
                    /** @description How long the old version is kept, stopped, as the way back; default 3600. */
                    keep_s?: number | null;
                    /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
                    supersede?: boolean | null;
                } | null;
            } | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            }) | null) | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            };
            /** @description Properties that get their defaults again. */
            clear?: ("time_zone" | "paused" | "catch_up_s" | "overlap")[] | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        UpdateSchedulesParameters: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /** @description Minute, hour, day of the month, month and day of the week, as in a crontab; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. */
            cron?: string | null;
            /** @description Name in the time zone database, such as `Europe/Berlin`; default UTC. */
            time_zone?: string | null;
            /** @description No run begins by itself; default false. */
            paused?: boolean | null;
            /** @description A run that was missed is made up for within so many seconds; default 60. */
            catch_up_s?: number | null;
            /**
             * @description What happens to a run that is due while an earlier one is under way; default skip.
             * @enum {string|null}
             */
            overlap?: "skip" | "queue" | "allow" | "cancel" | null;
            /** @description What each run does. */
            action?: (({
                start?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                } | null;
                stop?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                    /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
                    drain_timeout_ms?: number | null;
                } | null;
                /** @description The instance that each run makes, waits for and deletes. */
                run?: {
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image: string;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description The volume that is mounted at every start. */
                    volumes?: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                        size_mb?: number | null;
                        /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                        at: string;
                        /** @description Nothing can be written; default false. */
                        readonly?: boolean | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        name: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        name?: "" | null;
                        size_mb: string | number;
                    })[] | null;
                    /** @description After so many seconds the instance is stopped, and the run has failed; default 3600. */
                    timeout_s?: number | null;
                } | null;
                /** @description A rollout of the service that has the name at the time of a run. The run lasts until the new version serves, or has gone back. */
                rollout?: {
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    service: string;
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image?: string | null;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description Variables to be added. */
                    add?: {
                        /** @description Environment variables. */
                        env?: {
                            [key: string]: string;
                        } | null;
                    } | null;
                    /** @description Variables to be removed. */
                    del?: {
                        /** @description Names of variables. */
                        env?: string | string[] | null;
                    } | null;
                    /** @description Properties that get their defaults again. */
                    clear?: ("args" | "env")[] | null;
                    /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
                    canary?: number[] | null;
                    /** @description How long each step is watched, in seconds; default 30. */
                    bake_s?: number | null;
                    /** @description When a new instance counts as healthy. */
                    check?: {
                        /** @description The application's port; default: that of the first port that the service publishes. */
                        port?: number | null;
                        /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                        path?: string | null;
                        /** @description The wanted status; default 200 to 399. */
                        status?: number | null;
                        /** @description How many checks in a row have to succeed; default 1. */
                        times?: number | null;
                        /** @description The time between two checks; default 1000. */
                        interval_ms?: number | null;
                        /** @description The longest time of one check; default 2000. */
                        timeout_ms?: number | null;
                        /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                        limit_s?: number | null;
                    } | null;
                    /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
                    max_error_percent?: number | null;
                    /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
                    max_latency_ms?: number | null;
                    /** @description How long the old version is kept, stopped, as the way back; default 3600. */
                    keep_s?: number | null;
                    /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
                    supersede?: boolean | null;
                } | null;
            } | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            }) | null) | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            };
            /** @description Properties that get their defaults again. */
            clear?: ("time_zone" | "paused" | "catch_up_s" | "overlap")[] | null;
        };
        UpdateSchedulesChange: ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "cron";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Minute, hour, day of the month, month and day of the week, as in a crontab; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. */
            value: string;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "time_zone";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Name in the time zone database, such as `Europe/Berlin`; default UTC. */
            value?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "paused";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description No run begins by itself; default false. */
            value?: boolean | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "catch_up_s";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description A run that was missed is made up for within so many seconds; default 60. */
            value?: number | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "overlap";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /**
             * @description What happens to a run that is due while an earlier one is under way; default skip.
             * @enum {string|null}
             */
            value?: "skip" | "queue" | "allow" | "cancel" | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        }) | ({
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "action";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description What each run does. */
            value: {
                start?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                } | null;
                stop?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                    /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
                    drain_timeout_ms?: number | null;
                } | null;
                /** @description The instance that each run makes, waits for and deletes. */
                run?: {
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image: string;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description The volume that is mounted at every start. */
                    volumes?: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                        size_mb?: number | null;
                        /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                        at: string;
                        /** @description Nothing can be written; default false. */
                        readonly?: boolean | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        name: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        name?: "" | null;
                        size_mb: string | number;
                    })[] | null;
                    /** @description After so many seconds the instance is stopped, and the run has failed; default 3600. */
                    timeout_s?: number | null;
                } | null;
                /** @description A rollout of the service that has the name at the time of a run. The run lasts until the new version serves, or has gone back. */
                rollout?: {
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    service: string;
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image?: string | null;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description Variables to be added. */
                    add?: {
                        /** @description Environment variables. */
                        env?: {
                            [key: string]: string;
                        } | null;
                    } | null;
                    /** @description Variables to be removed. */
                    del?: {
                        /** @description Names of variables. */
                        env?: string | string[] | null;
                    } | null;
                    /** @description Properties that get their defaults again. */
                    clear?: ("args" | "env")[] | null;
                    /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
                    canary?: number[] | null;
                    /** @description How long each step is watched, in seconds; default 30. */
                    bake_s?: number | null;
                    /** @description When a new instance counts as healthy. */
                    check?: {
                        /** @description The application's port; default: that of the first port that the service publishes. */
                        port?: number | null;
                        /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                        path?: string | null;
                        /** @description The wanted status; default 200 to 399. */
                        status?: number | null;
                        /** @description How many checks in a row have to succeed; default 1. */
                        times?: number | null;
                        /** @description The time between two checks; default 1000. */
                        interval_ms?: number | null;
                        /** @description The longest time of one check; default 2000. */
                        timeout_ms?: number | null;
                        /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                        limit_s?: number | null;
                    } | null;
                    /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
                    max_error_percent?: number | null;
                    /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
                    max_latency_ms?: number | null;
                    /** @description How long the old version is kept, stopped, as the way back; default 3600. */
                    keep_s?: number | null;
                    /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
                    supersede?: boolean | null;
                } | null;
            } | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            };
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        });
        UpdateSchedulesLocalChange: {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "cron";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Minute, hour, day of the month, month and day of the week, as in a crontab; or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly. */
            value: string;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "time_zone";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description Name in the time zone database, such as `Europe/Berlin`; default UTC. */
            value?: string | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "paused";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description No run begins by itself; default false. */
            value?: boolean | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "catch_up_s";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description A run that was missed is made up for within so many seconds; default 60. */
            value?: number | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "overlap";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /**
             * @description What happens to a run that is due while an earlier one is under way; default skip.
             * @enum {string|null}
             */
            value?: "skip" | "queue" | "allow" | "cancel" | null;
        } | {
            /** @description Returned with the entry of this change. */
            id?: string | null;
            /**
             * @description The property.
             * @enum {string}
             */
            prop: "action";
            /**
             * @description What to do with it.
             * @enum {string}
             */
            op: "set";
            /** @description What each run does. */
            value: {
                start?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                } | null;
                stop?: {
                    /** @description Names of instances. Each means the instance that has the name at the time of a run. */
                    instances: string[];
                    /** @description How long connections may drain; default 0, -1 is as long as possible (3600000 ms). */
                    drain_timeout_ms?: number | null;
                } | null;
                /** @description The instance that each run makes, waits for and deletes. */
                run?: {
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image: string;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description The volume that is mounted at every start. */
                    volumes?: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /** @description Size in MiB of a new volume. The account's limits are narrower: `limits.min_volume_mb` to `limits.max_volume_mb` in `GET /v1/users/quotas`. */
                        size_mb?: number | null;
                        /** @description Absolute path of the mount, without `.` and `..` as components, colon and control characters. The directory is made where it is missing, and has to be empty. */
                        at: string;
                        /** @description Nothing can be written; default false. */
                        readonly?: boolean | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        size_mb?: null;
                        name: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        /** @enum {unknown} */
                        name?: "" | null;
                        size_mb: string | number;
                    })[] | null;
                    /** @description After so many seconds the instance is stopped, and the run has failed; default 3600. */
                    timeout_s?: number | null;
                } | null;
                /** @description A rollout of the service that has the name at the time of a run. The run lasts until the new version serves, or has gone back. */
                rollout?: {
                    /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                    service: string;
                    /** @description Image reference; a tag is pinned to the digest that it has now. */
                    image?: string | null;
                    /** @description Arguments of the application: a list, or one line that is split at blanks outside quotes. */
                    args?: string | string[] | null;
                    /** @description Environment variables. */
                    env?: {
                        [key: string]: string;
                    } | null;
                    /** @description Memory in MiB; default 128. The account's limits are narrower: `limits.min_memory_mb` to `limits.max_memory_mb` in `GET /v1/users/quotas`. */
                    memory_mb?: number | null;
                    /** @description Virtual CPUs; default 1. The account's limits are narrower: `limits.min_vcpus` to `limits.max_vcpus` in `GET /v1/users/quotas`. */
                    vcpus?: number | null;
                    /** @description Variables to be added. */
                    add?: {
                        /** @description Environment variables. */
                        env?: {
                            [key: string]: string;
                        } | null;
                    } | null;
                    /** @description Variables to be removed. */
                    del?: {
                        /** @description Names of variables. */
                        env?: string | string[] | null;
                    } | null;
                    /** @description Properties that get their defaults again. */
                    clear?: ("args" | "env")[] | null;
                    /** @description The share of the traffic in each step, in percent. It grows, and ends with 100; default [100]. */
                    canary?: number[] | null;
                    /** @description How long each step is watched, in seconds; default 30. */
                    bake_s?: number | null;
                    /** @description When a new instance counts as healthy. */
                    check?: {
                        /** @description The application's port; default: that of the first port that the service publishes. */
                        port?: number | null;
                        /** @description Ask for this path by HTTP. Absent: the port has to accept a connection. */
                        path?: string | null;
                        /** @description The wanted status; default 200 to 399. */
                        status?: number | null;
                        /** @description How many checks in a row have to succeed; default 1. */
                        times?: number | null;
                        /** @description The time between two checks; default 1000. */
                        interval_ms?: number | null;
                        /** @description The longest time of one check; default 2000. */
                        timeout_ms?: number | null;
                        /** @description An instance that is not healthy after so many seconds fails the rollout; default 120. */
                        limit_s?: number | null;
                    } | null;
                    /** @description It goes back if more of a step's requests than this, and at least 3, are answered with a status above 499; default 5. */
                    max_error_percent?: number | null;
                    /** @description It goes back if 95 % of a step's requests take longer than this; default no bound. */
                    max_latency_ms?: number | null;
                    /** @description How long the old version is kept, stopped, as the way back; default 3600. */
                    keep_s?: number | null;
                    /** @description End a rollout that is under way, as if it went back; default false, which refuses this one. */
                    supersede?: boolean | null;
                } | null;
            } | {
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                start: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                run?: null;
                /** @enum {unknown} */
                rollout?: null;
                stop: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                rollout?: null;
                run: Record<string, never>;
            } | {
                /** @enum {unknown} */
                start?: null;
                /** @enum {unknown} */
                stop?: null;
                /** @enum {unknown} */
                run?: null;
                rollout: Record<string, never>;
            };
        };
        UpdateSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description The `id` of the change, as the request gave it. */
                    id?: string;
                    /** @description The properties that are other than before. */
                    changed: ("cron" | "time_zone" | "paused" | "catch_up_s" | "overlap" | "action")[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description The `id` of the change, as the request gave it. */
                    id?: string;
                    /** @description The properties that are other than before. */
                    changed: ("cron" | "time_zone" | "paused" | "catch_up_s" | "overlap" | "action")[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteSchedulesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        DeleteSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListSchedulesObject: {
            /** @description Only schedules that are, or are not, paused. */
            paused?: boolean | null;
        };
        ListSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        TriggerSchedulesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        TriggerSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetScheduleRunsObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Most runs of each schedule to return; default 10. */
            limit?: number | null;
            /** @description Give the last part of the log of each run, too; default false. */
            log?: boolean | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetScheduleRunsParameters: {
            /** @description Most runs of each schedule to return; default 10. */
            limit?: number | null;
            /** @description Give the last part of the log of each run, too; default false. */
            log?: boolean | null;
        };
        GetScheduleRunsAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description The newest first. */
                    runs: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        scheduled_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /**
                         * @description What became of the run.
                         * @enum {string}
                         */
                        result: "running" | "succeeded" | "failed";
                        /** @description Why it succeeded or failed; absent while it runs. */
                        reason?: string;
                        /** @description The instance that the run made. It is deleted when the run is over. */
                        instance?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        };
                        /** @description The application's exit code. */
                        exit_code?: number;
                        /** @description Origin of the stop, as bits. */
                        stop_reason?: number;
                        /** @description The last 16384 bytes that the instance printed. */
                        log?: string;
                    }[];
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description The newest first. */
                    runs: {
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        scheduled_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        started_at: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        ended_at?: string;
                        /**
                         * @description What became of the run.
                         * @enum {string}
                         */
                        result: "running" | "succeeded" | "failed";
                        /** @description Why it succeeded or failed; absent while it runs. */
                        reason?: string;
                        /** @description The instance that the run made. It is deleted when the run is over. */
                        instance?: {
                            /**
                             * Format: uuid
                             * @description Identifier given at creation.
                             */
                            uuid: string;
                            /** @description Name of the instance. */
                            name: string;
                        };
                        /** @description The application's exit code. */
                        exit_code?: number;
                        /** @description Origin of the stop, as bits. */
                        stop_reason?: number;
                        /** @description The last 16384 bytes that the instance printed. */
                        log?: string;
                    }[];
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainSchedulesObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        ExplainSchedulesAnswer: {
            /** @constant */
            status: "success";
            data: {
                schedules: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                schedules: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description Name of the schedule. */
                    name: string;
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListImagesObject: {
            /** @description `sha256:<hex>`, or with the name before an `@`. */
            digest?: string | null;
            /** @description `<name>:<tag>`, or the tag alone. */
            tag?: string | null;
        };
        ListImagesAnswer: {
            /** @constant */
            status: "success";
            data: {
                images: {
                    /** @description `<name>@sha256:<hex>`. */
                    digest: string;
                    tags: string[];
                    /** @description The image has an initial file system. */
                    initrd: boolean;
                    /** @description Size with the initial file system. */
                    size_in_bytes: number;
                    /** @description Default arguments. */
                    args?: string;
                    /** @description Arguments of the kernel. */
                    kernel_args?: string;
                    labels?: {
                        [key: string]: string;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                images: ({
                    /** @description `<name>@sha256:<hex>`. */
                    digest: string;
                    tags: string[];
                    /** @description The image has an initial file system. */
                    initrd: boolean;
                    /** @description Size with the initial file system. */
                    size_in_bytes: number;
                    /** @description Default arguments. */
                    args?: string;
                    /** @description Arguments of the kernel. */
                    kernel_args?: string;
                    labels?: {
                        [key: string]: string;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetImagesObject: {
            /** @description `sha256:<hex>`, or with the name before an `@`. */
            digest?: string | null;
            /** @description `<name>:<tag>`, or the tag alone. */
            tag?: string | null;
        };
        GetImagesAnswer: {
            /** @constant */
            status: "success";
            data: {
                images: {
                    /** @description `<name>@sha256:<hex>`. */
                    digest: string;
                    tags: string[];
                    /** @description The image has an initial file system. */
                    initrd: boolean;
                    /** @description Size with the initial file system. */
                    size_in_bytes: number;
                    /** @description Default arguments. */
                    args?: string[];
                    /** @description Arguments of the kernel. */
                    kernel_args?: string;
                    labels?: {
                        [key: string]: string;
                    };
                    /** @description As in `image` of a creation. */
                    url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                images: ({
                    /** @description `<name>@sha256:<hex>`. */
                    digest: string;
                    tags: string[];
                    /** @description The image has an initial file system. */
                    initrd: boolean;
                    /** @description Size with the initial file system. */
                    size_in_bytes: number;
                    /** @description Default arguments. */
                    args?: string[];
                    /** @description Arguments of the kernel. */
                    kernel_args?: string;
                    labels?: {
                        [key: string]: string;
                    };
                    /** @description As in `image` of a creation. */
                    url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetQuotasAnswer: {
            /** @constant */
            status: "success";
            data: {
                quotas: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                quotas: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetUsersObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        GetUsersAnswer: {
            /** @constant */
            status: "success";
            data: {
                users: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                users: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateUsersObject: {
            /** @description The namespace of its images: letters, digits and single hyphens, a letter first; upper case is lowered. */
            name: string;
            /** @description What the account may hold at a time. */
            hard?: {
                /** @description Instances. */
                instances?: number | null;
                /** @description Instances that are not stopped. */
                live_instances?: number | null;
                /** @description Virtual CPUs of instances that are not stopped. */
                live_vcpus?: number | null;
                /** @description Memory of instances that are not stopped. */
                live_memory_mb?: number | null;
                /** @description Services. */
                service_groups?: number | null;
                /** @description Published ports over all services. */
                services?: number | null;
                /** @description Volumes. */
                volumes?: number | null;
                /** @description Size of all volumes. */
                total_volume_mb?: number | null;
                /** @description What the images of the account take in the registry. */
                registry_mb?: number | null;
                /** @description Memory of instances that are not stopped and keep it in standby. */
                snapshot_mb?: number | null;
                /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                image_mb?: number | null;
            } | null;
            /** @description The bounds of a single object of the account. */
            limits?: {
                /** @description Least memory of an instance. */
                min_memory_mb?: number | null;
                /** @description Most memory of an instance. */
                max_memory_mb?: number | null;
                /** @description Fewest virtual CPUs of an instance. */
                min_vcpus?: number | null;
                /** @description Most virtual CPUs of an instance. */
                max_vcpus?: number | null;
                /** @description Least size of a volume. */
                min_volume_mb?: number | null;
                /** @description Most size of a volume. */
                max_volume_mb?: number | null;
                /** @description Least `min_size` of autoscale. */
                min_autoscale_size?: number | null;
                /** @description Most `max_size` of autoscale. */
                max_autoscale_size?: number | null;
            } | null;
        };
        CreateUsersAnswer: {
            /** @constant */
            status: "success";
            data: {
                users: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                    /** @description Its first token, with all rights. It can not be read again. */
                    token: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                users: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                    /** @description Its first token, with all rights. It can not be read again. */
                    token: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        SetUserQuotasObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description What the account may hold at a time. */
            hard?: {
                /** @description Instances. */
                instances?: number | null;
                /** @description Instances that are not stopped. */
                live_instances?: number | null;
                /** @description Virtual CPUs of instances that are not stopped. */
                live_vcpus?: number | null;
                /** @description Memory of instances that are not stopped. */
                live_memory_mb?: number | null;
                /** @description Services. */
                service_groups?: number | null;
                /** @description Published ports over all services. */
                services?: number | null;
                /** @description Volumes. */
                volumes?: number | null;
                /** @description Size of all volumes. */
                total_volume_mb?: number | null;
                /** @description What the images of the account take in the registry. */
                registry_mb?: number | null;
                /** @description Memory of instances that are not stopped and keep it in standby. */
                snapshot_mb?: number | null;
                /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                image_mb?: number | null;
            } | null;
            /** @description The bounds of a single object of the account. */
            limits?: {
                /** @description Least memory of an instance. */
                min_memory_mb?: number | null;
                /** @description Most memory of an instance. */
                max_memory_mb?: number | null;
                /** @description Fewest virtual CPUs of an instance. */
                min_vcpus?: number | null;
                /** @description Most virtual CPUs of an instance. */
                max_vcpus?: number | null;
                /** @description Least size of a volume. */
                min_volume_mb?: number | null;
                /** @description Most size of a volume. */
                max_volume_mb?: number | null;
                /** @description Least `min_size` of autoscale. */
                min_autoscale_size?: number | null;
                /** @description Most `max_size` of autoscale. */
                max_autoscale_size?: number | null;
            } | null;
        } | {
            /** @enum {unknown} */
            name?: "" | null;
        } | {
            /** @enum {unknown} */
            uuid?: "" | null;
        };
        SetUserQuotasParameters: {
            /** @description What the account may hold at a time. */
            hard?: {
                /** @description Instances. */
                instances?: number | null;
                /** @description Instances that are not stopped. */
                live_instances?: number | null;
                /** @description Virtual CPUs of instances that are not stopped. */
                live_vcpus?: number | null;
                /** @description Memory of instances that are not stopped. */
                live_memory_mb?: number | null;
                /** @description Services. */
                service_groups?: number | null;
                /** @description Published ports over all services. */
                services?: number | null;
                /** @description Volumes. */
                volumes?: number | null;
                /** @description Size of all volumes. */
                total_volume_mb?: number | null;
                /** @description What the images of the account take in the registry. */
                registry_mb?: number | null;
                /** @description Memory of instances that are not stopped and keep it in standby. */
                snapshot_mb?: number | null;
                /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                image_mb?: number | null;
            } | null;
            /** @description The bounds of a single object of the account. */
            limits?: {
                /** @description Least memory of an instance. */
                min_memory_mb?: number | null;
                /** @description Most memory of an instance. */
                max_memory_mb?: number | null;
                /** @description Fewest virtual CPUs of an instance. */
                min_vcpus?: number | null;
                /** @description Most virtual CPUs of an instance. */
                max_vcpus?: number | null;
                /** @description Least size of a volume. */
                min_volume_mb?: number | null;
                /** @description Most size of a volume. */
                max_volume_mb?: number | null;
                /** @description Least `min_size` of autoscale. */
                min_autoscale_size?: number | null;
                /** @description Most `max_size` of autoscale. */
                max_autoscale_size?: number | null;
            } | null;
        };
        SetUserQuotasAnswer: {
            /** @constant */
            status: "success";
            data: {
                users: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                users: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    name: string;
                    /** @description Whether it is an administrator. */
                    admin: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    used: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    hard: {
                        /** @description Instances. */
                        instances: number;
                        /** @description Instances that are not stopped. */
                        live_instances: number;
                        /** @description Virtual CPUs of instances that are not stopped. */
                        live_vcpus: number;
                        /** @description Memory of instances that are not stopped. */
                        live_memory_mb: number;
                        /** @description Services. */
                        service_groups: number;
                        /** @description Published ports over all services. */
                        services: number;
                        /** @description Volumes. */
                        volumes: number;
                        /** @description Size of all volumes. */
                        total_volume_mb: number;
                        /** @description What the images of the account take in the registry. */
                        registry_mb: number;
                        /** @description Memory of instances that are not stopped and keep it in standby. */
                        snapshot_mb: number;
                        /** @description What the images of instances of the account take on a host; of several hosts, where they take most. */
                        image_mb: number;
                    };
                    limits: {
                        /** @description Least memory of an instance. */
                        min_memory_mb: number;
                        /** @description Most memory of an instance. */
                        max_memory_mb: number;
                        /** @description Fewest virtual CPUs of an instance. */
                        min_vcpus: number;
                        /** @description Most virtual CPUs of an instance. */
                        max_vcpus: number;
                        /** @description Least size of a volume. */
                        min_volume_mb: number;
                        /** @description Most size of a volume. */
                        max_volume_mb: number;
                        /** @description Least `min_size` of autoscale. */
                        min_autoscale_size: number;
                        /** @description Most `max_size` of autoscale. */
                        max_autoscale_size: number;
                    };
                    /** @description Tokens that are neither revoked nor expired. */
                    tokens: number;
                    /**
                     * Format: date-time
                     * @description When one of its tokens was last used, up to a minute too early. Absent: never.
                     */
                    last_used_at?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetInstallationAnswer: {
            /** @constant */
            status: "success";
            data: {
                installations: {
                    /** @constant */
                    status: "success";
                    /** @description The domain below which services get their public names. */
                    metro_domain: string;
                    /** @description Is added to each public port: port 443 is found at 443 and this. */
                    public_port_offset: number;
                    /** @description The address to which images are pushed. */
                    registry: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                installations: ({
                    /** @constant */
                    status: "success";
                    /** @description The domain below which services get their public names. */
                    metro_domain: string;
                    /** @description Is added to each public port: port 443 is found at 443 and this. */
                    public_port_offset: number;
                    /** @description The address to which images are pushed. */
                    registry: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListEventsAnswer: {
            /** @constant */
            status: "success";
            data: {
                events: {
                    /** @description Identifier of the event. */
                    id: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    at: string;
                    /**
                     * @description What happened.
                     * @enum {string}
                     */
                    kind: "instance.created" | "instance.start" | "instance.stop" | "instance.suspend" | "instance.move" | "instance.moved" | "instance.move-failed" | "instance.state" | "instance.failure" | "instance.volume" | "instance.changed" | "instance.exec" | "instance.copied" | "instance.connected" | "instance.retired" | "instance.deleted" | "instance.removed" | "service.created" | "service.changed" | "service.rollout" | "service.deleted" | "certificate.created" | "certificate.attempt" | "certificate.state" | "certificate.failure" | "certificate.installed" | "certificate.deleted" | "volume.created" | "volume.state" | "volume.deleted" | "volume.removed" | "autoscale.created" | "autoscale.policies" | "autoscale.decision" | "autoscale.deleted" | "schedule.created" | "schedule.changed" | "schedule.run" | "schedule.deleted" | "host.state" | "host.use" | "host.upgrade" | "image.pushed" | "image.deleted" | "token.created" | "token.revoked" | "account.created" | "account.quotas";
                    object: {
                        /**
                         * @description Type of the object.
                         * @enum {string}
                         */
                        type: "instance" | "service" | "certificate" | "volume" | "autoscale" | "schedule" | "host" | "image" | "token" | "account";
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid?: string;
                        /** @description Name of the object. Images and hosts have only this. */
                        name: string;
                    };
                    /** @description The state before. */
                    from?: string;
                    /** @description The state from then on. */
                    to?: string;
                    /** @description The reason, for people. */
                    why: string;
                    by: {
                        /**
                         * @description Who caused it.
                         * @enum {string}
                         */
                        kind: "token" | "traffic" | "policy" | "autoscale" | "schedule" | "rollout" | "host" | "platform" | "operator";
                        /** @description The label of the token, or its UUID. */
                        name?: string;
                    };
                    /** @description The `X-Request-Id` of the request that asked for it. */
                    request_id?: string;
                    /** @description Numbers and words about it, for programs. */
                    facts?: {
                        [key: string]: string | number | boolean;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                events: ({
                    /** @description Identifier of the event. */
                    id: number;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    at: string;
                    /**
                     * @description What happened.
                     * @enum {string}
                     */
                    kind: "instance.created" | "instance.start" | "instance.stop" | "instance.suspend" | "instance.move" | "instance.moved" | "instance.move-failed" | "instance.state" | "instance.failure" | "instance.volume" | "instance.changed" | "instance.exec" | "instance.copied" | "instance.connected" | "instance.retired" | "instance.deleted" | "instance.removed" | "service.created" | "service.changed" | "service.rollout" | "service.deleted" | "certificate.created" | "certificate.attempt" | "certificate.state" | "certificate.failure" | "certificate.installed" | "certificate.deleted" | "volume.created" | "volume.state" | "volume.deleted" | "volume.removed" | "autoscale.created" | "autoscale.policies" | "autoscale.decision" | "autoscale.deleted" | "schedule.created" | "schedule.changed" | "schedule.run" | "schedule.deleted" | "host.state" | "host.use" | "host.upgrade" | "image.pushed" | "image.deleted" | "token.created" | "token.revoked" | "account.created" | "account.quotas";
                    object: {
                        /**
                         * @description Type of the object.
                         * @enum {string}
                         */
                        type: "instance" | "service" | "certificate" | "volume" | "autoscale" | "schedule" | "host" | "image" | "token" | "account";
                        /**
                         * Format: uuid
                         * @description Identifier given at creation.
                         */
                        uuid?: string;
                        /** @description Name of the object. Images and hosts have only this. */
                        name: string;
                    };
                    /** @description The state before. */
                    from?: string;
                    /** @description The state from then on. */
                    to?: string;
                    /** @description The reason, for people. */
                    why: string;
                    by: {
                        /**
                         * @description Who caused it.
                         * @enum {string}
                         */
                        kind: "token" | "traffic" | "policy" | "autoscale" | "schedule" | "rollout" | "host" | "platform" | "operator";
                        /** @description The label of the token, or its UUID. */
                        name?: string;
                    };
                    /** @description The `X-Request-Id` of the request that asked for it. */
                    request_id?: string;
                    /** @description Numbers and words about it, for programs. */
                    facts?: {
                        [key: string]: string | number | boolean;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CreateTokensObject: {
            /** @description What the token is for. */
            label?: string | null;
            /** @description What the token may be used for; default everything, also tokens. */
            scopes?: ("read" | "operate" | "images:push" | "metrics")[] | null;
            /** @description Names of services; the token sees and touches only these and their instances. Needs `scopes`. */
            services?: string[] | null;
            /** @description After how many seconds the token expires; default never. */
            lifetime_s?: number | null;
            /** @description Whether it sees the inner times of a start, which only a token that sees them can give. */
            developer?: boolean | null;
        } | {
            services?: null;
        } | {
            scopes: ("read" | "operate" | "metrics")[];
        };
        CreateTokensAnswer: {
            /** @constant */
            status: "success";
            data: {
                tokens: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                    /** @description The token itself. It can not be read again. */
                    token: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                tokens: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                    /** @description The token itself. It can not be read again. */
                    token: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetTokensObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
        };
        GetTokensAnswer: {
            /** @constant */
            status: "success";
            data: {
                tokens: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                tokens: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteTokensObject: {
            /** @description Identifier given at creation. */
            uuid?: string | null;
        };
        DeleteTokensAnswer: {
            /** @constant */
            status: "success";
            data: {
                tokens: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                tokens: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ListTokensAnswer: {
            /** @constant */
            status: "success";
            data: {
                tokens: {
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                tokens: ({
                    /** @constant */
                    status?: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description What the token is for. */
                    label: string;
                    /** @description Absent: the token has all rights. */
                    scopes?: ("read" | "operate" | "images:push" | "metrics")[];
                    /** @description Names. Absent: the token is not limited to services. */
                    services?: string[];
                    /** @description Whether it sees the inner times of a start. */
                    developer: boolean;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description Absent: the token does not expire.
                     */
                    expires_at?: string;
                    /**
                     * Format: date-time
                     * @description Up to a minute too early. Absent: the token was never used.
                     */
                    last_used_at?: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetBalanceAnswer: {
            /** @constant */
            status: "success";
            data: {
                moves: {
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description The name of the instance. */
                    name: string;
                    /** @description The host that it leaves. */
                    from: {
                        /** @description The id under which it joined. */
                        host: string;
                        /** @description The share of its scarcest resource, memory or processors, that is promised to instances. More than 100: more than there is. */
                        percent_before: number;
                        /** @description The same after the move. */
                        percent_after: number;
                    };
                    /** @description The host where it would be. */
                    to: {
                        /** @description The id under which it joined. */
                        host: string;
                        /** @description The share of its scarcest resource, memory or processors, that is promised to instances. More than 100: more than there is. */
                        percent_before: number;
                        /** @description The same after the move. */
                        percent_after: number;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                moves: ({
                    /** @constant */
                    status: "success";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid: string;
                    /** @description The name of the instance. */
                    name: string;
                    /** @description The host that it leaves. */
                    from: {
                        /** @description The id under which it joined. */
                        host: string;
                        /** @description The share of its scarcest resource, memory or processors, that is promised to instances. More than 100: more than there is. */
                        percent_before: number;
                        /** @description The same after the move. */
                        percent_after: number;
                    };
                    /** @description The host where it would be. */
                    to: {
                        /** @description The id under which it joined. */
                        host: string;
                        /** @description The share of its scarcest resource, memory or processors, that is promised to instances. More than 100: more than there is. */
                        percent_before: number;
                        /** @description The same after the move. */
                        percent_after: number;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        GetHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        ExplainHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        ExplainHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description What the object is doing at present and why. */
                    now: string;
                    /** @description What comes next by itself, with its time if that is known. */
                    next: string;
                    /** @description What went wrong last, if it still matters. */
                    failure?: string;
                    /** @description The whole explanation as lines of text, which `Accept: text/plain` selects as the answer. */
                    text: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        CordonHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        CordonHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DrainHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        DrainHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        UncordonHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        UncordonHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        LabelHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description Labels to be set; a label with one of these keys is replaced. */
            set?: {
                [key: string]: string;
            } | null;
            /** @description Keys of labels to be removed; one that is not there is no error. */
            remove?: string[] | null;
        };
        LabelHostsParameters: {
            /** @description Labels to be set; a label with one of these keys is replaced. */
            set?: {
                [key: string]: string;
            } | null;
            /** @description Keys of labels to be removed; one that is not there is no error. */
            remove?: string[] | null;
        };
        LabelHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /**
                     * @description Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.
                     * @enum {string}
                     */
                    state: "live" | "silent" | "lost" | "released";
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    heard_at: string;
                    /**
                     * Format: date-time
                     * @description When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.
                     */
                    cordoned_at?: string;
                    /** @description How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it. */
                    drain?: {
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        since: string;
                        /** @description Instances that are to move to other hosts. */
                        to_move: number;
                    };
                    /** @description The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none. */
                    upgrade?: {
                        /**
                         * @description Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.
                         * @enum {string}
                         */
                        state: "exchanging" | "going-back" | "done" | "went-back" | "cut-off";
                        /** @description The version before. Absent: it did not say it. */
                        from?: string;
                        /** @description The version that takes over. */
                        to: string;
                        /**
                         * Format: date-time
                         * @description As in RFC 3339, in UTC.
                         */
                        began_at: string;
                        /**
                         * Format: date-time
                         * @description When it was over. Absent: it is under way.
                         */
                        ended_at?: string;
                        /** @description How far it is. Absent: it is over, or no part has had its turn yet. */
                        progress?: {
                            /** @description The part whose turn it is. */
                            part: string;
                            /** @description Parts that are of the next version. */
                            exchanged: number;
                            /** @description All parts. */
                            parts: number;
                        };
                        /** @description Why it goes back, or went back. */
                        why?: string;
                    };
                    /**
                     * Format: date-time
                     * @description When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.
                     */
                    lost_at?: string;
                    /** @description For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost. */
                    term_ms?: number;
                    /** @description What administrators noted about it. Nothing is decided by them. */
                    labels: {
                        [key: string]: string;
                    };
                    /** @description What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Instances by state, without those that are being deleted. */
                    instances: {
                        /** @description Instances in this state. */
                        stopped?: number;
                        /** @description Instances in this state. */
                        starting?: number;
                        /** @description Instances in this state. */
                        running?: number;
                        /** @description Instances in this state. */
                        draining?: number;
                        /** @description Instances in this state. */
                        stopping?: number;
                        /** @description Instances in this state. */
                        standby?: number;
                    };
                    /** @description Memory that its instances may take together. */
                    memory_mb: number;
                    /** @description Memory of the instances that have a VM. */
                    used_memory_mb: number;
                    /** @description Memory that is needed if all its instances that are not stopped run at once. */
                    promised_memory_mb: number;
                    /** @description Processors of the machine. Absent: its agent does not tell. */
                    cpus?: number;
                    /** @description vCPUs of its instances that are not stopped. One processor may be promised to 4 of them. */
                    promised_vcpus: number;
                    /** @description Volumes, with those that are being deleted. */
                    volumes: number;
                    /** @description Room for volumes. */
                    volume_mb: number;
                    /** @description Size of all its volumes. */
                    promised_volume_mb: number;
                    /** @description The version of Roost that it runs. */
                    version: string;
                    /** @description How it runs VMs: `kvm`, or `tcg`, which is slower. */
                    accelerator: string;
                    /** @description The private network of its instances. */
                    subnet: string;
                    /** @description Where its agent is reached by the other parts of the platform. */
                    agent_url: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        InviteHostsObject: {
            /** @description The id that the host will have: lower-case letters, digits and hyphens, at most 63, with no hyphen at either end, and not 12 hexadecimal digits. Absent: `h2`, `h3` and so on. */
            name?: string | null;
            /** @description What the machine will do besides running instances. With a role it joins cordoned. Absent: nothing. */
            roles?: ("gateway" | "api" | "worker")[] | null;
        };
        InviteHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /** @description What the machine will do besides running instances. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Where the machine finds this installation. */
                    address: string;
                    /** @description What the machine shows when it joins. It is not shown again. */
                    token: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    expires_at: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /** @description What the machine will do besides running instances. */
                    roles: ("gateway" | "api" | "worker")[];
                    /** @description Where the machine finds this installation. */
                    address: string;
                    /** @description What the machine shows when it joins. It is not shown again. */
                    token: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    expires_at: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        GetHostInvitationsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        GetHostInvitationsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status?: "success";
                    /** @description The id that the host will have. */
                    name: string;
                    /** @description What the machine will do besides running instances. */
                    roles: ("gateway" | "api" | "worker")[];
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    expires_at: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status?: "success";
                    /** @description The id that the host will have. */
                    name: string;
                    /** @description What the machine will do besides running instances. */
                    roles: ("gateway" | "api" | "worker")[];
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    created_at: string;
                    /**
                     * Format: date-time
                     * @description As in RFC 3339, in UTC.
                     */
                    expires_at: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteHostInvitationsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
        };
        DeleteHostInvitationsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        DeleteHostsObject: {
            /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
            name?: string | null;
            /** @description If true, its machine never comes back: it is lost at once, its instances without volumes begin on other hosts, and its volumes are lost. */
            lost?: boolean | null;
        };
        DeleteHostsParameters: {
            /** @description If true, its machine never comes back: it is lost at once, its instances without volumes begin on other hosts, and its volumes are lost. */
            lost?: boolean | null;
        };
        DeleteHostsAnswer: {
            /** @constant */
            status: "success";
            data: {
                hosts: {
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /** @description What follows if it was removed as lost. It is listed until nothing is on it any more. Absent: it is gone. */
                    lost?: {
                        /** @description Instances that begin on other hosts. */
                        moving: number;
                        /** @description Instances with volumes, which are lost with it. */
                        waiting: number;
                        /** @description Volumes, which are lost with it. */
                        volumes: number;
                        /** @description Within which time its VMs end, if the machine still runs, in milliseconds. Absent: they do not. */
                        term_ms?: number;
                        /** @description All of this in words. */
                        text: string;
                    };
                }[];
            };
        } | {
            /**
             * @description Some objects failed, or all.
             * @enum {string}
             */
            status: "partial_success" | "error";
            message: string;
            data: {
                hosts: ({
                    /** @constant */
                    status: "success";
                    /** @description The id under which it joined. */
                    name: string;
                    /** @description What follows if it was removed as lost. It is listed until nothing is on it any more. Absent: it is gone. */
                    lost?: {
                        /** @description Instances that begin on other hosts. */
                        moving: number;
                        /** @description Instances with volumes, which are lost with it. */
                        waiting: number;
                        /** @description Volumes, which are lost with it. */
                        volumes: number;
                        /** @description Within which time its VMs end, if the machine still runs, in milliseconds. Absent: they do not. */
                        term_ms?: number;
                        /** @description All of this in words. */
                        text: string;
                    };
                } | {
                    /** @constant */
                    status: "error";
                    /**
                     * Format: uuid
                     * @description Identifier given at creation.
                     */
                    uuid?: string;
                    name?: string;
                    /** @description The `id` of the object, if it is a change that has one. */
                    id?: string;
                    /**
                     * @description Current state.
                     * @enum {string}
                     */
                    state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                    message: string;
                    /** @description Numeric code of the error. */
                    error: number;
                })[];
            };
        };
        RequestFailure: {
            /** @constant */
            status: "error";
            /** @description The messages of all errors; some clients show no other. */
            message: string;
            errors: {
                /** @description HTTP status. */
                status: number;
                /** @description Numeric code of the error. */
                error: number;
                message: string;
            }[];
        };
        /** @description Codes of `error`, with the sentences they come with. */
        ErrorCodes: number;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                details?: boolean;
                metrics?: boolean;
                tags?: string[];
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstancesObject"] | components["schemas"]["GetInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createInstances: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInstancesObject"] | components["schemas"]["CreateInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteInstancesObject"] | components["schemas"]["DeleteInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateInstancesObject"] | components["schemas"]["UpdateInstancesChange"]) | (components["schemas"]["UpdateInstancesObject"] | components["schemas"]["UpdateInstancesChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstancesLocal: {
        parameters: {
            query?: {
                details?: boolean;
                metrics?: boolean;
                tags?: string[];
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateInstancesParameters"] | components["schemas"]["UpdateInstancesLocalChange"]) | (components["schemas"]["UpdateInstancesParameters"] | components["schemas"]["UpdateInstancesLocalChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listInstances: {
        parameters: {
            query?: {
                state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListInstancesObject"] | components["schemas"]["ListInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    startInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartInstancesObject"] | components["schemas"]["StartInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    startInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    stopInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StopInstancesObject"] | components["schemas"]["StopInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    stopInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StopInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StopInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    suspendInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SuspendInstancesObject"] | components["schemas"]["SuspendInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspendInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    suspendInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SuspendInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SuspendInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    moveInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveInstancesObject"] | components["schemas"]["MoveInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoveInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    moveInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoveInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    waitInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                timeout_ms?: number;
                timeout_s?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WaitInstancesObject"] | components["schemas"]["WaitInstancesObject"][] | {
                    ids: ({
                        /** @description Identifier given at creation. */
                        uuid?: string | null;
                        /** @description A domain name as in RFC 1035, at most 121 characters, its labels at most 63; upper case is lowered. */
                        name?: string | null;
                        /**
                         * @description The state to wait for; default running.
                         * @enum {string|null}
                         */
                        state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby" | null;
                    } | {
                        /** @enum {unknown} */
                        name?: "" | null;
                        uuid: string;
                    } | {
                        /** @enum {unknown} */
                        uuid?: "" | null;
                        name: string;
                    })[];
                    /** @description How long to wait; default -1, which waits as long as possible (290000 ms), and so does everything larger. */
                    timeout_ms?: number | null;
                    /** @description The same wait in seconds, as newer clients give it; taken where both are given. */
                    timeout_s?: number | null;
                };
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    waitInstancesLocal: {
        parameters: {
            query?: {
                state?: "stopped" | "starting" | "running" | "draining" | "stopping" | "standby";
                timeout_ms?: number;
                timeout_s?: number;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WaitInstancesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceLogs: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                offset?: number;
                limit?: number;
                follow?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstanceLogsObject"] | components["schemas"]["GetInstanceLogsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceLogsAnswer"];
                    "text/event-stream": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceLogsLocal: {
        parameters: {
            query?: {
                offset?: number;
                limit?: number;
                follow?: boolean;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstanceLogsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceLogsAnswer"];
                    "text/event-stream": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    execInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExecInstancesObject"] | components["schemas"]["ExecInstancesObject"][];
            };
        };
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    execInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    archiveInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ArchiveInstancesObject"] | components["schemas"]["ArchiveInstancesObject"][];
            };
        };
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    archiveInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArchiveInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    connectInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConnectInstancesObject"] | components["schemas"]["ConnectInstancesObject"][];
            };
        };
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    connectInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection goes on as a WebSocket. */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectInstancesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceMetrics: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstanceMetricsObject"] | components["schemas"]["GetInstanceMetricsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceMetricsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceMetricsLocal: {
        parameters: {
            query?: {
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceMetricsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceUsage: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                step?: "5s" | "5m";
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstanceUsageObject"] | components["schemas"]["GetInstanceUsageObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceUsageAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstanceUsageLocal: {
        parameters: {
            query?: {
                step?: "5s" | "5m";
                limit?: number;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetInstanceUsageParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstanceUsageAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainInstances: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainInstancesObject"] | components["schemas"]["ExplainInstancesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainInstancesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainInstancesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainInstancesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServices: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetServicesObject"] | components["schemas"]["GetServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createServices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateServicesObject"] | components["schemas"]["CreateServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteServices: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteServicesObject"] | components["schemas"]["DeleteServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateServices: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateServicesObject"] | components["schemas"]["UpdateServicesChange"]) | (components["schemas"]["UpdateServicesObject"] | components["schemas"]["UpdateServicesChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServicesLocal: {
        parameters: {
            query?: {
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteServicesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateServicesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateServicesParameters"] | components["schemas"]["UpdateServicesLocalChange"]) | (components["schemas"]["UpdateServicesParameters"] | components["schemas"]["UpdateServicesLocalChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listServices: {
        parameters: {
            query?: {
                persistent?: boolean;
                fqdn?: string;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListServicesObject"] | components["schemas"]["ListServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainServices: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainServicesObject"] | components["schemas"]["ExplainServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainServicesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainServicesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainServicesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServiceMetrics: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetServiceMetricsObject"] | components["schemas"]["GetServiceMetricsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServiceMetricsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServiceMetricsLocal: {
        parameters: {
            query?: {
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServiceMetricsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServiceUsage: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                step?: "5s" | "5m";
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetServiceUsageObject"] | components["schemas"]["GetServiceUsageObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServiceUsageAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getServiceUsageLocal: {
        parameters: {
            query?: {
                step?: "5s" | "5m";
                limit?: number;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetServiceUsageParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetServiceUsageAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getRollouts: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetRolloutsObject"] | components["schemas"]["GetRolloutsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRolloutsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createRollouts: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateRolloutsObject"] | components["schemas"]["CreateRolloutsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRolloutsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getRolloutsLocal: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetRolloutsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetRolloutsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createRolloutsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateRolloutsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRolloutsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    rollBackServices: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollBackServicesObject"] | components["schemas"]["RollBackServicesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollBackServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    rollBackServicesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RollBackServicesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getAutoscale: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetAutoscaleObject"] | components["schemas"]["GetAutoscaleObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createAutoscale: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAutoscaleObject"] | components["schemas"]["CreateAutoscaleObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteAutoscale: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteAutoscaleObject"] | components["schemas"]["DeleteAutoscaleObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getAutoscaleLocal: {
        parameters: {
            query?: {
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createAutoscaleLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAutoscaleParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteAutoscaleLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainAutoscale: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainAutoscaleObject"] | components["schemas"]["ExplainAutoscaleObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainAutoscaleAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainAutoscaleLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainAutoscaleAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    tryAutoscale: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TryAutoscaleObject"] | components["schemas"]["TryAutoscaleObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TryAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    tryAutoscaleLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TryAutoscaleParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TryAutoscaleAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getAutoscalePolicies: {
        parameters: {
            query?: {
                name?: string[];
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object that these are parts of. */
                owner: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetAutoscalePoliciesObject"] | components["schemas"]["GetAutoscalePoliciesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAutoscalePoliciesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    addAutoscalePolicies: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object that these are parts of. */
                owner: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddAutoscalePoliciesObject"] | components["schemas"]["AddAutoscalePoliciesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddAutoscalePoliciesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteAutoscalePolicies: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path: {
                /** @description UUID or name of the object that these are parts of. */
                owner: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteAutoscalePoliciesObject"] | components["schemas"]["DeleteAutoscalePoliciesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAutoscalePoliciesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getAutoscalePoliciesLocal: {
        parameters: {
            query?: {
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object that these are parts of. */
                owner: string;
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAutoscalePoliciesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteAutoscalePoliciesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object that these are parts of. */
                owner: string;
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteAutoscalePoliciesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getCertificates: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetCertificatesObject"] | components["schemas"]["GetCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateCertificates: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCertificatesObject"] | components["schemas"]["UpdateCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createCertificates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCertificatesObject"] | components["schemas"]["CreateCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteCertificates: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteCertificatesObject"] | components["schemas"]["DeleteCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getCertificatesLocal: {
        parameters: {
            query?: {
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateCertificatesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCertificatesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteCertificatesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listCertificates: {
        parameters: {
            query?: {
                common_name?: string;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListCertificatesObject"] | components["schemas"]["ListCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCertificatesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainCertificates: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainCertificatesObject"] | components["schemas"]["ExplainCertificatesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainCertificatesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainCertificatesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainCertificatesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getVolumes: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetVolumesObject"] | components["schemas"]["GetVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createVolumes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVolumesObject"] | components["schemas"]["CreateVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteVolumes: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteVolumesObject"] | components["schemas"]["DeleteVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getVolumesLocal: {
        parameters: {
            query?: {
                details?: boolean;
                count?: number;
                from?: string;
                order?: "asc" | "desc";
                sortby?: "create_time";
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteVolumesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    attachVolumes: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachVolumesObject"] | components["schemas"]["AttachVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttachVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    attachVolumesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachVolumesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttachVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    detachVolumes: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DetachVolumesObject"] | components["schemas"]["DetachVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetachVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    detachVolumesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DetachVolumesParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetachVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listVolumes: {
        parameters: {
            query?: {
                persistent?: boolean;
                state?: "uninitialized" | "initializing" | "available" | "idle" | "mounted" | "busy" | "error";
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListVolumesObject"] | components["schemas"]["ListVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListVolumesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainVolumes: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainVolumesObject"] | components["schemas"]["ExplainVolumesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainVolumesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainVolumesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainVolumesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getSchedules: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                details?: boolean;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetSchedulesObject"] | components["schemas"]["GetSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createSchedules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSchedulesObject"] | components["schemas"]["CreateSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteSchedules: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteSchedulesObject"] | components["schemas"]["DeleteSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateSchedules: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateSchedulesObject"] | components["schemas"]["UpdateSchedulesChange"]) | (components["schemas"]["UpdateSchedulesObject"] | components["schemas"]["UpdateSchedulesChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getSchedulesLocal: {
        parameters: {
            query?: {
                details?: boolean;
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteSchedulesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    updateSchedulesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": (components["schemas"]["UpdateSchedulesParameters"] | components["schemas"]["UpdateSchedulesLocalChange"]) | (components["schemas"]["UpdateSchedulesParameters"] | components["schemas"]["UpdateSchedulesLocalChange"])[];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                paused?: boolean;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListSchedulesObject"] | components["schemas"]["ListSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    triggerSchedules: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TriggerSchedulesObject"] | components["schemas"]["TriggerSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    triggerSchedulesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerSchedulesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getScheduleRuns: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                limit?: number;
                log?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetScheduleRunsObject"] | components["schemas"]["GetScheduleRunsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetScheduleRunsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getScheduleRunsLocal: {
        parameters: {
            query?: {
                limit?: number;
                log?: boolean;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetScheduleRunsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetScheduleRunsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainSchedules: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainSchedulesObject"] | components["schemas"]["ExplainSchedulesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainSchedulesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainSchedulesLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainSchedulesAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listImages: {
        parameters: {
            query?: {
                digest?: string;
                tag?: string;
                namespace?: string;
                tagged?: boolean;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ListImagesObject"] | components["schemas"]["ListImagesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListImagesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getImages: {
        parameters: {
            query?: {
                digest?: string;
                tag?: string;
                namespace?: string;
                tagged?: boolean;
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetImagesObject"] | components["schemas"]["GetImagesObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetImagesAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetQuotasAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    setUserQuotas: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SetUserQuotasObject"] | components["schemas"]["SetUserQuotasObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetUserQuotasAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getQuotasLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetQuotasAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    setUserQuotasLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SetUserQuotasParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetUserQuotasAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getUsers: {
        parameters: {
            query?: {
                uuid?: string[];
                name?: string[];
                count?: number;
                from?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetUsersObject"] | components["schemas"]["GetUsersObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetUsersAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createUsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUsersObject"] | components["schemas"]["CreateUsersObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateUsersAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getUsersLocal: {
        parameters: {
            query?: {
                count?: number;
                from?: string;
            };
            header?: never;
            path: {
                /** @description UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetUsersAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getInstallation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetInstallationAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                kind?: "instance.created" | "instance.start" | "instance.stop" | "instance.suspend" | "instance.move" | "instance.moved" | "instance.move-failed" | "instance.state" | "instance.failure" | "instance.volume" | "instance.changed" | "instance.exec" | "instance.copied" | "instance.connected" | "instance.retired" | "instance.deleted" | "instance.removed" | "service.created" | "service.changed" | "service.rollout" | "service.deleted" | "certificate.created" | "certificate.attempt" | "certificate.state" | "certificate.failure" | "certificate.installed" | "certificate.deleted" | "volume.created" | "volume.state" | "volume.deleted" | "volume.removed" | "autoscale.created" | "autoscale.policies" | "autoscale.decision" | "autoscale.deleted" | "schedule.created" | "schedule.changed" | "schedule.run" | "schedule.deleted" | "host.state" | "host.use" | "host.upgrade" | "image.pushed" | "image.deleted" | "token.created" | "token.revoked" | "account.created" | "account.quotas" | "instance" | "service" | "certificate" | "volume" | "autoscale" | "schedule" | "host" | "image" | "token" | "account";
                object?: string;
                by?: "token" | "traffic" | "policy" | "autoscale" | "schedule" | "rollout" | "host" | "platform" | "operator";
                since?: string;
                until?: string;
                before?: number;
                after?: number;
                count?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEventsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    followEvents: {
        parameters: {
            query?: {
                kind?: "instance.created" | "instance.start" | "instance.stop" | "instance.suspend" | "instance.move" | "instance.moved" | "instance.move-failed" | "instance.state" | "instance.failure" | "instance.volume" | "instance.changed" | "instance.exec" | "instance.copied" | "instance.connected" | "instance.retired" | "instance.deleted" | "instance.removed" | "service.created" | "service.changed" | "service.rollout" | "service.deleted" | "certificate.created" | "certificate.attempt" | "certificate.state" | "certificate.failure" | "certificate.installed" | "certificate.deleted" | "volume.created" | "volume.state" | "volume.deleted" | "volume.removed" | "autoscale.created" | "autoscale.policies" | "autoscale.decision" | "autoscale.deleted" | "schedule.created" | "schedule.changed" | "schedule.run" | "schedule.deleted" | "host.state" | "host.use" | "host.upgrade" | "image.pushed" | "image.deleted" | "token.created" | "token.revoked" | "account.created" | "account.quotas" | "instance" | "service" | "certificate" | "volume" | "autoscale" | "schedule" | "host" | "image" | "token" | "account";
                object?: string;
                by?: "token" | "traffic" | "policy" | "autoscale" | "schedule" | "rollout" | "host" | "platform" | "operator";
                last_event_id?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getTokens: {
        parameters: {
            query?: {
                uuid?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetTokensObject"] | components["schemas"]["GetTokensObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    createTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokensObject"] | components["schemas"]["CreateTokensObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteTokens: {
        parameters: {
            query?: {
                uuid?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteTokensObject"] | components["schemas"]["DeleteTokensObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getTokensLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteTokensLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description UUID of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListTokensAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getBalance: {
        parameters: {
            query?: {
                most?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetBalanceAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetHostsObject"] | components["schemas"]["GetHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteHostsObject"] | components["schemas"]["DeleteHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteHostsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExplainHostsObject"] | components["schemas"]["ExplainHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainHostsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    explainHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainHostsAnswer"];
                    "text/plain": string;
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    cordonHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CordonHostsObject"] | components["schemas"]["CordonHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CordonHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    cordonHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CordonHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    drainHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DrainHostsObject"] | components["schemas"]["DrainHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    drainHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DrainHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    uncordonHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UncordonHostsObject"] | components["schemas"]["UncordonHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UncordonHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    uncordonHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UncordonHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    labelHosts: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LabelHostsObject"] | components["schemas"]["LabelHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    labelHostsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["LabelHostsParameters"];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getHostInvitations: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GetHostInvitationsObject"] | components["schemas"]["GetHostInvitationsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetHostInvitationsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    inviteHosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InviteHostsObject"] | components["schemas"]["InviteHostsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InviteHostsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteHostInvitations: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteHostInvitationsObject"] | components["schemas"]["DeleteHostInvitationsObject"][];
            };
        };
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteHostInvitationsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    getHostInvitationsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetHostInvitationsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    deleteHostInvitationsLocal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the object. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request was carried out; each entry tells of its object. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteHostInvitationsAnswer"];
                };
            };
            /** @description The request as a whole failed. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RequestFailure"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process can serve: its database answers. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics of the process in the Prometheus text format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    v1_healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The health of the API, for newer clients: `data.checks`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    platform_targets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parts of the platform as targets for Prometheus' HTTP service discovery. Only for administrators. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    platform_metrics: {
        parameters: {
            query: {
                part: string;
                name: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics of one target in the Prometheus text format. Only for administrators. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    registry_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tokens of the image registry, for OCI clients. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Failure. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
