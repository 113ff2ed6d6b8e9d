import { proxyActivities, sleep } from '@temporalio/workflow'

const { echo: echoActivity } = proxyActivities<{ echo(text: string): Promise<string> }>({
  startToCloseTimeout: '10 s',
})

export async function echo(text: string): Promise<string> {
  await sleep(10)
  return echoActivity(text)
}
