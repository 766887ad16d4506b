export { type GatewayConfig, readGatewayConfig } from './config.js';
export { type GatewayDependencies, type RunningGateway, startGateway } from './service.js';
