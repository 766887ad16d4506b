export { type RuntimeConfig, type RuntimeLimits, readRuntimeConfig } from './config.js';
export type { Model } from './models/model.js';
export { type RunningRuntime, type RuntimeDependencies, startRuntime } from './service.js';
