export { type NatsServerOptions, startNatsServer } from './nats-server.js';
export { type RedisServerOptions, startRedisServer } from './redis-server.js';
export type { TestServer } from './server-program.js';
