export { deployRegistry } from '../chains/evm/deploy-registry.js';
export { openChain } from '../chains/open-chain.js';
export { listWaiting } from './list-waiting.js';
export { adoptionOutcome, findLane, openChainPusherDatabase, requestAdoption } from './request-adoption.js';
