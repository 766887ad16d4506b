import { describe, expect, it } from 'vitest';
import { httpOperations } from './http-operations.js';
import * as contracts from './index.js';

describe('the operations over HTTP', () => {
  it('are those of all services', () => {
    const services = new Set(httpOperations.map(({ service }) => service));
    expect(services).toEqual(new Set(['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway']));
    const names = httpOperations.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['worlds.list', 'deployments.execute', 'deployments.stream', 'keys.create']),
    );
  });

  it('are those of every contract, once each', () => {
    const all = Object.entries(contracts)
      .filter(([name, value]) => name.endsWith('Contract') && typeof value === 'object')
      .flatMap(([, contract]) => Object.values((contract as contracts.Contract).rpcs))
      .filter(({ http }) => http !== undefined);
    expect(all.length).toBeGreaterThan(55);
    expect(httpOperations.map(({ name }) => name).sort()).toEqual(all.map(({ name }) => name).sort());
  });

  it('have none that is for services only', () => {
    expect(httpOperations.filter(({ access }) => access.relation === 'internal')).toEqual([]);
    const names = httpOperations.map(({ name }) => name);
    expect(names).not.toContain('journal.range');
    expect(names).not.toContain('accounts.states');
  });

  it('have one method and path each', () => {
    const lines = httpOperations.map(({ http }) => `${http.method} ${http.path.replaceAll(/:\w+/g, ':')}`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('need a token under /api', () => {
    const open = httpOperations.filter(
      ({ http, access }) => http.path.startsWith('/api') && access.relation === 'public',
    );
    expect(open).toEqual([]);
  });
});
