import type { PushesChanged, PushRecord } from '@orrery/contracts';

/** Tells open streams how pushes of their deployments stand. A broadcast that is lost is not repeated. */
export interface PushWatch {
  onChanged(changed: PushesChanged): void;
  /** Calls `tell` for each change from now on; the function returned ends that. */
  follow(deployment: string, tell: (push: PushRecord) => void): () => void;
}

export function createPushWatch(): PushWatch {
  const listeners = new Map<string, Set<(push: PushRecord) => void>>();
  return {
    onChanged: ({ deployment, pushes }) => {
      for (const tell of listeners.get(deployment) ?? []) for (const push of pushes) tell(push);
    },
    follow: (deployment, tell) => {
      const own = (listeners.get(deployment) ?? new Set()).add(tell);
      listeners.set(deployment, own);
      return () => {
        own.delete(tell);
        if (own.size === 0 && listeners.get(deployment) === own) listeners.delete(deployment);
      };
    },
  };
}
