export { openBackends } from './open-backends.js';
export { runServiceProcess, type ServiceProcess } from './run-service-process.js';
export type { ServiceDependencies } from './service-dependencies.js';
