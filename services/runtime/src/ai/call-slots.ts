import { createSemaphore, type Semaphore } from '@orrery/service-kit';
import type { Model } from '../models/model.js';
import { createFairSlots, type FairSlots } from './fair-slots.js';

/** Bounds the calls of models that this process has under way. */
export interface CallSlots {
  /**
   * Runs a call when neither its deployment nor its model has too many under way; deployments get a model's slots in
   * turn. Rejects with the signal's reason when it aborts before the call has begun.
   */
  run<T>(model: Model, deployment: string, signal: AbortSignal, call: () => Promise<T>): Promise<T>;
}

/** `perDeployment`: calls of one deployment at once; `Infinity` for no bound. */
export function createCallSlots(perDeployment: number): CallSlots {
  const ofModels = new Map<string, FairSlots>();
  const ofDeployments = new Map<string, Semaphore>();
  const slotsOf = ({ record, maxConcurrency }: Model) => {
    // A list that was read again may bound the same model otherwise.
    const key = `${maxConcurrency} ${record.modelId}`;
    const slots = ofModels.get(key) ?? createFairSlots(maxConcurrency ?? Number.POSITIVE_INFINITY);
    ofModels.set(key, slots);
    return slots;
  };
  return {
    run: async (model, deployment, signal, call) => {
      const own = ofDeployments.get(deployment) ?? createSemaphore(perDeployment);
      ofDeployments.set(deployment, own);
      try {
        return await own.run(signal, () => slotsOf(model).run(deployment, signal, call));
      } finally {
        if (own.taken === 0) ofDeployments.delete(deployment);
      }
    },
  };
}
