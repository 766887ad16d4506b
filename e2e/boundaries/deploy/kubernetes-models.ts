import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as batch from 'kubernetes-models/batch/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import type { Yaml } from './read-deploy.js';

const groups: Record<string, Yaml> = {
  'apps/v1': apps,
  'autoscaling/v2': autoscaling,
  'batch/v1': batch,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  v1: core,
};

/** The class whose `validate` checks an object by the schema of its kind; `undefined` for an unknown kind. */
export const modelOf = ({ apiVersion, kind }: Yaml): Yaml => groups[apiVersion]?.[kind];
