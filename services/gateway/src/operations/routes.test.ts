import * as contracts from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { allRoutes } from './routes.js';

describe('routes', () => {
  it('offer the operations of all services', () => {
    const services = new Set(allRoutes.map(({ service }) => service));
    expect(services).toEqual(new Set(['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway']));
    const names = allRoutes.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['worlds.list', 'deployments.execute', 'deployments.stream', 'keys.create']),
    );
  });

  it('offer every operation of every contract once', () => {
    const all = Object.entries(contracts)
      .filter(([name, value]) => name.endsWith('Contract') && typeof value === 'object')
      .flatMap(([, contract]) => Object.values((contract as contracts.Contract).rpcs))
      .filter(({ http }) => http !== undefined);
    expect(all.length).toBeGreaterThan(55);
    expect(allRoutes.map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name).sort());
  });

  it('never offer what is for services only', () => {
    expect(allRoutes.filter(({ access }) => access.relation === 'internal')).toEqual([]);
    const names = allRoutes.map(({ name }) => name);
    expect(names).not.toContain('journal.range');
    expect(names).not.toContain('accounts.states');
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
