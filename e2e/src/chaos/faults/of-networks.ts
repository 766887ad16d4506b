import { BACKENDS, type BackendName } from '../house/backends.js';
import type { Link } from '../house/link.js';
import type { House } from '../house/start-house.js';
import { type Fault, memberAt } from './fault.js';
import { MEMBERS } from './of-processes.js';

const MENDED = (link: Link) => () => link.mend();

function linkAt(house: House, place: string): Link {
  return memberAt(house, place).links[place.split(' ')[1] as BackendName];
}

const places = MEMBERS.flatMap((name) => BACKENDS.map((backend) => `${name} ${backend}`));

export const ofNetworks = {
  'connections cut': {
    places,
    longestMs: 5000,
    inflict: (house, place) => {
      linkAt(house, place).cut();
      return MENDED(linkAt(house, place));
    },
  },
  'connections stalled': {
    places,
    longestMs: 8000,
    inflict: (house, place) => {
      linkAt(house, place).stall();
      return MENDED(linkAt(house, place));
    },
  },
  'connections of all broken': {
    places: BACKENDS,
    longestMs: 100,
    inflict: ({ members }, place) => {
      for (const { links } of members) links[place as BackendName].drop();
      return () => undefined;
    },
  },
} satisfies Record<string, Fault>;
