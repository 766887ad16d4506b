import { BACKENDS, type BackendName } from '../house/backends.js';
import { type Fault, MEMBERS, memberAt } from './of-processes.js';

const targets = MEMBERS.flatMap((name) => BACKENDS.map((backend) => `${name} ${backend}`));

const broken = (how: 'cut' | 'stall', longestMs: number): Fault => ({
  targets,
  longestMs,
  inflict: (house, target) => {
    const link = memberAt(house, target).links[target.split(' ')[1] as BackendName];
    link[how]();
    return () => link.mend();
  },
});

export const ofNetworks = {
  'connections cut': broken('cut', 5000),
  'connections stalled': broken('stall', 8000),
  'connections of all broken': {
    targets: BACKENDS,
    longestMs: 100,
    inflict: ({ members }, target) => {
      for (const { links } of members) links[target as BackendName].drop();
      return () => undefined;
    },
  },
} satisfies Record<string, Fault>;
