export { MAX_CALL_BYTES, MAX_FACT_BYTES } from './body.js';
export { type ConnectBusOptions, connectBus } from './connect.js';
export { createInProcessHub, type InProcessHub } from './in-process/hub.js';
export { lendHub } from './in-process/lend-hub.js';
export type { StreamLimits } from './nats/stream.js';
export type * from './port.js';
