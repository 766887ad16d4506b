import { startSystem } from '../starting/start-system.js';
import { type ConsoleHouse, startConsoleHouse } from './console-house.js';

/** The console of a system in the shape of the run. */
export const startHouseInEachShape = (env: Record<string, string> = {}): Promise<ConsoleHouse> =>
  startConsoleHouse(env, startSystem);
