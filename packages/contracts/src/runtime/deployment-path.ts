import { z } from 'zod';
import { worldInPath } from '../catalog/names.js';

const inPath = z.string().meta({ maxLength: 64 });

/** A deployment in a path. */
export const deploymentInPath = inPath.describe(
  'The deployment: its numeric id, or its address in any case of letters.',
);

/** Path parameters of everything in a world's deployments; each may be a numeric id or an address. */
export const worldPath = z.strictObject({
  worldAddress: inPath.describe(worldInPath.description ?? ''),
});
export const deploymentPath = z.strictObject({ ...worldPath.shape, address: deploymentInPath });

/** An entry of a deployment's journal in a path. */
export const historyIdInPath = z
  .string()
  .min(1)
  .max(64)
  .describe('Id of the history entry: the `historyId` of an execution.');
