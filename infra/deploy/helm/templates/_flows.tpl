{{- /* Rules for network policies. */}}

{{- /* Parameters: root, component */}}
{{- define "orch.peer" -}}
- podSelector:
    matchLabels:
      {{- include "orch.selector" . | nindent 6 }}
{{- end }}

{{- /* Parameters: root, components (list), port */}}
{{- define "orch.from" -}}
- from:
    {{- range .components }}
    {{- include "orch.peer" (dict "root" $.root "component" .) | nindent 4 }}
    {{- end }}
  ports: [{ port: {{ .port }} }]
{{- end }}

{{- define "orch.to" -}}
- to:
    {{- range .components }}
    {{- include "orch.peer" (dict "root" $.root "component" .) | nindent 4 }}
    {{- end }}
  ports: [{ port: {{ .port }} }]
{{- end }}

{{- define "orch.toDns" -}}
- to:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: {{ .Values.networkPolicy.dns.namespace }} }
      podSelector:
        matchLabels:
          {{- toYaml .Values.networkPolicy.dns.labels | nindent 10 }}
  ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end }}

{{- /* Permits the addresses of an external server. Parameter: a list of cidr and port */}}
{{- define "orch.toNetworks" -}}
{{- range . }}
- to: [{ ipBlock: { cidr: {{ .cidr | quote }} } }]
  ports: [{ port: {{ .port }} }]
{{- end }}
{{- end }}

{{- /* Parameters: root, stores (a list of postgres, nats, objects or mqtt) */}}
{{- define "orch.toStores" -}}
{{- $root := .root -}}
{{- range $name, $port := dict "postgres" 5432 "nats" 4222 "objects" 7070 -}}
{{- $values := get $root.Values $name -}}
{{- if has $name $.stores -}}
{{- if $values.bundled }}
{{ include "orch.to" (dict "root" $root "components" (list $name) "port" $port) }}
{{- else if $values.egress }}
{{- include "orch.toNetworks" $values.egress }}
{{- else }}
{{- fail (printf "%s.egress is missing: list the addresses of the external server, such as [{ cidr: 10.1.2.3/32, port: %d }], or set networkPolicy.enabled=false" $name (int $port)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The public internet. */}}
{{- define "orch.toInternet" -}}
- to:
    - ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson .Values.networkPolicy.privateNetworks }} }
    - ipBlock: { cidr: '::/0', except: {{ toJson .Values.networkPolicy.privateNetworksV6 }} }
{{- end }}

{{- /* Parameters: root, component, ingress and egress (rendered rules) */}}
{{- define "orch.policy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "orch.metadata" . | nindent 2 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  podSelector:
    matchLabels:
      {{- include "orch.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- .ingress | trim | default "[]" | nindent 4 }}
  egress:
    {{- .egress | trim | default "[]" | nindent 4 }}
{{ end }}
