import type { CallContext } from '@orrery/contracts';
import type { CompiledSchema } from '@orrery/deciding';
import { describe, expect, it } from 'vitest';
import type { SeenDeployment } from '../../store/deployments/deployment-directory.js';
import type { RuntimeContext } from '../context.js';
import { adviceOn } from './query-advice.js';

const horse = { definition: { name: 'horse', attributes: [{ name: 'wins' }] } } as CompiledSchema;
const seen = { isOwner: true, worldId: 1, worldAddress: '1' } as SeenDeployment;
const never = () => new Promise<never>(() => undefined);

/** What is said of an order, and how often the catalog was asked. `sleep`: how long an answer is waited for. */
async function advice(
  { remembered, schema, sleep = never }: Answers,
  orderBy: string,
  deployment: SeenDeployment = seen,
) {
  const asked: string[] = [];
  const catalog = {
    rememberedSchema: () => remembered,
    schema: (_worldId: number, name: string) => {
      asked.push(name);
      return schema();
    },
    schemaNames: async () => ['horse', 'stable'],
  };
  const context = { catalog, clock: { sleep } } as unknown as RuntimeContext;
  const query = { entitySchema: 'hores', orderBy };
  const { warnings = [] } = await adviceOn(context, deployment, query, {} as CallContext);
  return { asked, told: warnings.map(({ code, suggestion }) => `${code}: ${suggestion}`) };
}

interface Answers {
  readonly remembered?: CompiledSchema;
  readonly schema: () => Promise<CompiledSchema | undefined>;
  readonly sleep?: () => Promise<void>;
}

describe('advice on a query', () => {
  it('is of the schema as it is now, which is asked for where the remembered one lacks a name', async () => {
    const of = (name: string) => advice({ remembered: horse, schema: async () => horse }, name);
    expect(await of('wins')).toEqual({ asked: [], told: [] });
    expect(await of('winz')).toEqual({ asked: ['hores'], told: ['unknown_attribute: Write "wins".'] });
    const gained = { definition: { name: 'horse', attributes: [{ name: 'winz' }] } } as CompiledSchema;
    expect((await advice({ remembered: horse, schema: async () => gained }, 'winz')).told).toEqual([]);
  });

  it('names the schema that is meant where there is none', async () => {
    const { told } = await advice({ schema: async () => undefined }, 'winz');
    expect(told).toEqual(['unknown_entity_schema: Write "horse".']);
  });

  it('is nothing where the catalog fails, or takes longer than an answer waits', async () => {
    const failing = () => Promise.reject(new Error('away'));
    expect(await advice({ schema: failing }, 'winz')).toEqual({ asked: ['hores'], told: [] });
    const sleep = async () => undefined;
    expect((await advice({ schema: never, sleep }, 'winz')).told).toEqual([]);
  });

  it('is for the owner alone', async () => {
    const other = await advice({ schema: async () => horse }, 'winz', { ...seen, isOwner: false });
    expect(other).toEqual({ asked: [], told: [] });
  });
});
