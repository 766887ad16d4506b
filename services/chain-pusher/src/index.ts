export { type ChainPusherDependencies, startChainPusher } from './service.js';
