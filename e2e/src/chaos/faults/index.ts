import type { Fault } from './fault.js';
import { ofBackends } from './of-backends.js';
import { ofNetworks } from './of-networks.js';
import { ofProcesses } from './of-processes.js';
import { ofTheOutside } from './of-the-outside.js';

/** All kinds of faults, by name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  ...ofProcesses,
  ...ofNetworks,
  ...ofBackends,
  ...ofTheOutside,
};
