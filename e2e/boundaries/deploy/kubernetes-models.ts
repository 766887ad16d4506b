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

/** Checks an object by the schema of its kind. @throws Error for one that it does not satisfy, or of an unknown kind */
export function validate(object: Yaml): void {
  const { apiVersion, kind } = object;
  const Model = groups[apiVersion]?.[kind];
  if (Model === undefined) throw new Error(`no schema of ${apiVersion} ${kind} is known`);
  new Model(object).validate();
}
