export { type ChainPusherConfig, readChainPusherConfig } from './config.js';
export { startChainPusher } from './service.js';
