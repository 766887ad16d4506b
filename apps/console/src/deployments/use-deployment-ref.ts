import { useParams } from '@tanstack/react-router';
import type { DeploymentRef } from '../api/records.js';

/** The deployment that the page is about. */
export const useDeploymentRef = (): DeploymentRef =>
  useParams({ from: '/worlds/$world/deployments/$deployment' });
