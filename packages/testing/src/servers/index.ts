export { ANVIL_KEYS, type AnvilOptions, startAnvil } from './anvil.js';
export { freePort } from './free-port.js';
export { type FullDisk, fillDisk } from './full-disk.js';
export { serveJsonRpc } from './json-rpc.js';
export { type Listening, listen } from './listen.js';
export { type NatsCluster, startNatsCluster } from './nats-cluster.js';
export { type NatsServerOptions, startNatsServer } from './nats-server.js';
export { query, withClient } from './query.js';
export { type RedisServerOptions, startRedisServer } from './redis-server.js';
export { runServerProgram, type TestServer } from './server-program.js';
export { type SolanaNode, startSolanaNode } from './solana-node.js';
export { type ReplicatedPostgres, startReplicatedPostgres } from './standby.js';
export { temporaryFolder } from './temporary-folder.js';
export {
  type Behaviour,
  makeCertificate,
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
} from './webhook-receiver.js';
