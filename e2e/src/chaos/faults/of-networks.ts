import type { Link } from '../../external/link.js';
import { BACKENDS, type BackendName } from '../house/backends.js';
import type { House } from '../house/start-house.js';
import { type Fault, MEMBERS, memberAt } from './of-processes.js';

const MENDED = (link: Link) => () => link.mend();

function linkAt(house: House, target: string): Link {
  return memberAt(house, target).links[target.split(' ')[1] as BackendName];
}

const targets = MEMBERS.flatMap((name) => BACKENDS.map((backend) => `${name} ${backend}`));

export const ofNetworks = {
  'connections cut': {
    targets,
    longestMs: 5000,
    inflict: (house, target) => {
      linkAt(house, target).cut();
      return MENDED(linkAt(house, target));
    },
  },
  'connections stalled': {
    targets,
    longestMs: 8000,
    inflict: (house, target) => {
      linkAt(house, target).stall();
      return MENDED(linkAt(house, target));
    },
  },
  'connections of all broken': {
    targets: BACKENDS,
    longestMs: 100,
    inflict: ({ members }, target) => {
      for (const { links } of members) links[target as BackendName].drop();
      return () => undefined;
    },
  },
} satisfies Record<string, Fault>;
