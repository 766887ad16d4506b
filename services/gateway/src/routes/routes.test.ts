import {
  type Contract,
  catalogContract,
  identityContract,
  liveContract,
  runtimeContract,
} from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { allRoutes } from './index.js';

const contracts: readonly Contract[] = [catalogContract, runtimeContract, identityContract, liveContract];
const nameOf = (rpc: { service: string; name: string }) => `${rpc.service} ${rpc.name}`;
const offered = contracts
  .flatMap((contract) => Object.values(contract.rpcs))
  .filter((rpc) => rpc.http !== undefined)
  .map(nameOf);

describe('routes', () => {
  it('offer every operation of the contracts exactly once', () => {
    expect(allRoutes.map(nameOf).sort()).toEqual(offered.sort());
  });

  it('never offer what is for services only', () => {
    expect(allRoutes.filter(({ access }) => access.relation === 'internal')).toEqual([]);
  });

  it('have one method and path each', () => {
    const lines = allRoutes.map(({ http }) => `${http.method} ${http.path.replaceAll(/:\w+/g, ':')}`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('need a token under /api', () => {
    const open = allRoutes.filter(
      ({ http, access }) => http.path.startsWith('/api') && access.relation === 'public',
    );
    expect(open).toEqual([]);
  });
});
