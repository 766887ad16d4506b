export interface ContainerPlan {
  readonly image: string;
  readonly command: string[];
  readonly port: number;
  readonly scheme: string;
}

/** Starts a container where a Docker engine answers. testcontainers is loaded only here: it is large. */
export async function startContainer(
  plan: ContainerPlan,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(plan.image)
    .withCommand(plan.command)
    .withExposedPorts(plan.port)
    .start();
  const url = `${plan.scheme}://${container.getHost()}:${container.getMappedPort(plan.port)}`;
  return { url, stop: async () => void (await container.stop()) };
}
