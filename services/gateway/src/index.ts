export { type GatewayConfig, readGatewayConfig } from './config.js';
export { type RunningGateway, startGateway } from './service.js';
