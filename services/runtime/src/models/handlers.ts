import type { aiModelRpcs, Handlers } from '@orrery/contracts';
import type { ModelList } from './model-list.js';

export const modelHandlers = ({ models }: { models: ModelList }): Handlers<typeof aiModelRpcs> => ({
  'aiModels.list': async () => ({ data: [...models.all()] }),
});
