export { type RuntimeConfig, readRuntimeConfig } from './config.js';
export type { Model } from './core/prompting/model.js';
export type { RuntimeDependencies } from './create-context.js';
export { type RunningRuntime, startRuntime } from './service.js';
export type { RuntimeLimits } from './store/deployments/deployment-directory.js';
