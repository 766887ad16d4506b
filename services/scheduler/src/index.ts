export { type SchedulerDependencies, startScheduler } from './service.js';
