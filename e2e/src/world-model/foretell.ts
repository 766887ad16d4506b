import type { Command } from './command.js';
import { foretellExecute } from './foretell-execution.js';
import {
  foretellBind,
  foretellClone,
  foretellEnd,
  foretellRedefine,
  foretellRename,
  foretellTurn,
  foretellUnbind,
} from './foretell-lifecycle.js';
import { foretellCreate, foretellLook, foretellRemove, foretellReplace } from './foretell-writes.js';
import { type Foretold, type ModelDeployment, type ModelWorld, refused } from './model.js';

/** What the service has to answer to a command; the model then stands where the service has to. */
export function foretell(world: ModelWorld, deployment: ModelDeployment, step: Command): Foretold {
  if (step.kind === 'redefine') return foretellRedefine(world, step);
  if (step.kind === 'clone') return foretellClone(world, deployment, step);
  if (deployment.isDeleted) return refused(404, 'deployment_not_found');
  switch (step.kind) {
    case 'execute':
      return foretellExecute(world, deployment, step);
    case 'create':
      return foretellCreate(world, deployment, step);
    case 'replace':
      return foretellReplace(world, deployment, step);
    case 'remove':
      return foretellRemove(deployment, step);
    case 'look':
      return foretellLook(deployment, step);
    case 'bind':
    case 'rebind':
      return foretellBind(world, deployment, step);
    case 'unbind':
      return foretellUnbind(deployment, step);
    case 'turn':
      return foretellTurn(world, deployment, step);
    case 'rename':
      return foretellRename(deployment, step);
    case 'end':
      return foretellEnd(deployment);
  }
}
