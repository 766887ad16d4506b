export { startChainPusher } from './service.js';
