export { type ConnectBusOptions, connectBus } from './bus.js';
export { serviceCall } from './calls/call-and-serve.js';
export { isUnknown, isUnreached } from './in-flight/in-flight.js';
export { createInProcessHub, type InProcessHub, lendHub } from './in-process/hub.js';
export { natsEnvironment, natsSettings } from './nats/nats-settings.js';
export type { StreamLimits } from './nats/stream.js';
export type * from './ports/bus-port.js';
export { MAX_CALL_BYTES, MAX_FACT_BYTES } from './wire/wire-format.js';
