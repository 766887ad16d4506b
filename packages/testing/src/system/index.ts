export type { Exchange } from '../recording/record-exchanges.js';
export {
  type Backends,
  BUILT_COMMAND,
  builtProgram,
  type FiveProcesses,
  firstKey,
  SERVICES,
  type ServiceName,
  startFiveProcesses,
} from './five-processes.js';
export { type Fleet, type FleetOptions, type Member, startFleet } from './fleet.js';
export { type NodeProcess, repositoryRoot, startNode, startProgram } from './node-process.js';
export type { System } from './system.js';
export { startAllInOne } from './system.js';
