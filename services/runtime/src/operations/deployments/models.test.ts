import { type AiModelRecord, type CallContext, parseRequest, runtimeContract } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { Model } from '../../core/prompting/model.js';
import { modelHandlers } from './models.js';

const models = Array.from({ length: 30 }, (_, at) => ({ modelId: `m${at}` }) as AiModelRecord);
const listed = models.map((record) => ({ record }) as Model);
const list = (query: object) => {
  const rpc = runtimeContract.rpcs['aiModels.list'];
  const request = parseRequest(rpc, { params: {}, query, headers: {}, body: {} });
  return modelHandlers({ models: { offered: listed } })['aiModels.list'](request, {} as CallContext);
};

it('lists twenty models, or the page that was asked for', async () => {
  expect(await list({})).toEqual({
    data: models.slice(0, 20),
    pagination: { page: 1, limit: 20, total: 30, totalPages: 2 },
  });
  expect(await list({ page: '2', limit: '25' })).toEqual({
    data: models.slice(25),
    pagination: { page: 2, limit: 25, total: 30, totalPages: 2 },
  });
  expect((await list({ page: '7' })).data).toEqual([]);
});
