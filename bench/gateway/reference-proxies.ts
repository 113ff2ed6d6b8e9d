import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { libraryPath } from '../../setup/libraries.mjs'
import { startProxy } from './proxy.ts'
import type { Proxy, ProxyPlan } from './proxy.ts'

const maxConnections = 12_000

export async function startHaproxy(root: string, plan: ProxyPlan): Promise<Proxy> {
  const ports = { http: 18_001, https: 18_002, tcp: 18_003, bodies: 18_004 }
  const config = path.join(plan.directory, 'haproxy.cfg')
  writeFileSync(
    config,
    `global
  nbthread 1
  maxconn ${maxConnections}
  no strict-limits
  tune.ssl.default-dh-param 2048
defaults
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
  option forwardfor
frontend web
  mode http
  bind 127.0.0.1:${ports.http}
  bind 127.0.0.1:${ports.https} ssl crt ${plan.certificate.both} alpn h2,http/1.1
  default_backend app
backend app
  mode http
  server one 127.0.0.1:${plan.upstream.http}
listen bodies
  mode http
  bind 127.0.0.1:${ports.bodies}
  server one 127.0.0.1:${plan.upstream.bodies}
listen bytes
  mode tcp
  bind 127.0.0.1:${ports.tcp} ssl crt ${plan.certificate.both}
  server one 127.0.0.1:${plan.upstream.tcp}
`,
  )
  const command = [path.join(root, 'usr/sbin/haproxy'), '-db', '-f', config]
  return await startProxy({ name: 'HAProxy', command, ports, env: { LD_LIBRARY_PATH: libraryPath(root) } })
}

export async function startNginx(root: string, plan: ProxyPlan): Promise<Proxy> {
  const ports = { http: 18_011, https: 18_012 }
  const config = path.join(plan.directory, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off;
worker_processes 1;
pid ${plan.directory}/nginx.pid;
error_log stderr error;
user root;
events { worker_connections ${maxConnections}; }
http {
  access_log off;
  ${nginxTemporaryPaths(`${plan.directory}/`)}
  keepalive_requests 1000000000;
  upstream app { server 127.0.0.1:${plan.upstream.http}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${ports.http};
    listen 127.0.0.1:${ports.https} ssl http2;
    http2_max_concurrent_streams 256;
    ssl_certificate ${plan.certificate.chain};
    ssl_certificate_key ${plan.certificate.key};
    location / {
      proxy_pass http://app;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`,
  )
  const command = [path.join(root, 'usr/sbin/nginx'), '-c', config]
  return await startProxy({ name: 'nginx', command, ports, env: { LD_LIBRARY_PATH: libraryPath(root) } })
}

/** The lines of a configuration that keep nginx from writing to the system's own directories. */
export function nginxTemporaryPaths(prefix: string): string {
  return ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${prefix}${name};`)
    .join('\n  ')
}

export async function startCaddy(root: string, plan: ProxyPlan): Promise<Proxy> {
  const ports = { http: 18_021, https: 18_022 }
  const config = path.join(plan.directory, 'Caddyfile')
  const upstream = `reverse_proxy 127.0.0.1:${plan.upstream.http}`
  writeFileSync(
    config,
    `{
  admin off
  auto_https off
  servers {
    protocols h1 h2
  }
}
http://127.0.0.1:${ports.http} {
  ${upstream}
}
https://127.0.0.1:${ports.https}, https://localhost:${ports.https} {
  tls ${plan.certificate.chain} ${plan.certificate.key}
  ${upstream}
}
`,
  )
  const command = [path.join(root, 'usr/bin/caddy'), 'run', '--config', config]
  const home = { HOME: plan.directory, XDG_DATA_HOME: plan.directory, XDG_CONFIG_HOME: plan.directory }
  return await startProxy({ name: 'Caddy', command, ports, env: { ...home, GOMAXPROCS: '1' } })
}
