import { type aiModelRpcs, type Handlers, paginationOf, refuseDeepPage } from '@orrery/contracts';
import type { ModelList } from './model-list.js';

export const modelHandlers = ({ models }: { models: ModelList }): Handlers<typeof aiModelRpcs> => ({
  'aiModels.list': async ({ query }) => {
    refuseDeepPage(query);
    const all = models.all();
    const before = (query.page - 1) * query.limit;
    return { data: all.slice(before, before + query.limit), pagination: paginationOf(query, all.length) };
  },
});
