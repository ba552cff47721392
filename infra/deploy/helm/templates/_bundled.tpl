{{- /* A server for evaluation: a StatefulSet with one pod, and a Service with the host name that
infra/deploy/make-secrets writes into URLs. Parameters: root, component, port, user, folder (of its volume), container
(YAML), volumes (YAML) */}}
{{- define "orch.bundled" -}}
{{- $values := get .root.Values .component -}}
# FOR EVALUATION: one instance, without failover or backup.
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "orch.labels" . | nindent 4 }}
spec:
  replicas: 1
  serviceName: {{ .component }}
  selector:
    matchLabels:
      {{- include "orch.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "orch.labels" . | nindent 8 }}
    spec:
      {{- include "orch.pod" . | nindent 6 }}
      serviceAccountName: {{ include "orch.serviceAccount" . }}
      securityContext:
        {{- include "orch.podSecurity" (dict "user" .user) | nindent 8 }}
      terminationGracePeriodSeconds: 60
      containers:
        - name: {{ .component }}
          image: {{ $values.image }}
          {{- .container | nindent 10 }}
          ports:
            - { name: {{ .component }}, containerPort: {{ .port }} }
          securityContext:
            {{- include "orch.containerSecurity" . | nindent 12 }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            - { name: data, mountPath: {{ .folder }} }
            - { name: tmp, mountPath: /tmp }
            {{- .mounts | default "" | nindent 12 }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 1Gi }
        {{- .volumes | nindent 8 }}
  volumeClaimTemplates:
    - apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        resources: { requests: { storage: {{ $values.storage }} } }
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "orch.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "orch.selector" . | nindent 4 }}
  ports:
    - { name: {{ .component }}, port: {{ .port }}, targetPort: {{ .component }} }
    {{- if and (eq .component "nats") .root.Values.nats.mqtt }}
    - { name: mqtt, port: 1883, targetPort: 1883 }
    {{- end }}
{{- end }}

{{- /* Selects one file of the Secret. Parameters: root, key */}}
{{- define "orch.secretFile" -}}
- name: secrets
  secret:
    secretName: {{ include "orch.secretName" .root }}
    defaultMode: 288 # 0440
    items: [{ key: {{ .key }}, path: {{ .key }} }]
{{- end }}

{{- /* Parameter: command (a JSON list) */}}
{{- define "orch.execProbes" -}}
startupProbe:
  exec: { command: {{ . }} }
  periodSeconds: 5
  failureThreshold: 60
livenessProbe:
  exec: { command: {{ . }} }
  periodSeconds: 15
  timeoutSeconds: 5
  failureThreshold: 4
readinessProbe:
  exec: { command: {{ . }} }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}
