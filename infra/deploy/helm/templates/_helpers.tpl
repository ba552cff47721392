{{- /* Names, labels, images and parts that all pods share. Most templates take a dict with root and component. */}}

{{- define "orch.fullname" -}}
{{- if contains "orchestrat" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-orchestrator" (.Release.Name | trunc 27 | trimSuffix "-") }}{{ end -}}
{{- end }}

{{- define "orch.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "orch.labels" -}}
{{ include "orch.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: {{ .root.Chart.Name }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "orch.metadata" -}}
name: {{ include "orch.fullname" .root }}-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "orch.labels" . | nindent 2 }}
{{- end }}

{{- define "orch.secretName" -}}
{{- if .Values.secrets.create }}{{ include "orch.fullname" . }}-secrets
{{- else }}{{ required "secrets.existingSecret is missing: name a Secret with the files of infra/deploy/make-secrets, or set secrets.create for an evaluation" .Values.secrets.existingSecret }}{{ end -}}
{{- end }}

{{- /* Parameters: root, image (service, runtime or frontend) */}}
{{- define "orch.image" -}}
{{- $image := .root.Values.image -}}
{{- $name := printf "%s/script-orchestration-%s" (trimSuffix "/" $image.registry) .image -}}
{{- $digest := get $image.digests .image -}}
image: {{ if $digest }}{{ printf "%s@%s" $name $digest }}{{ else }}{{ printf "%s:%s" $name ($image.tag | default .root.Chart.AppVersion) }}{{ end }}
imagePullPolicy: {{ $image.pullPolicy }}
{{- end }}

{{- /* Common fields of a pod. No process calls the API server, so no pod has a token. Service links are disabled,
because their variables could be mistaken for settings: a Service `orch-redis` would set ORCH_REDIS_PORT. */}}
{{- define "orch.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "orch.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{- /* The security context of a pod. Parameter: user (a numeric ID) */}}
{{- define "orch.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "orch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Parameters: root, component */}}
{{- define "orch.serviceAccount" -}}
{{ include "orch.fullname" .root }}-{{ if eq .component "runtime" }}runtime{{ else }}platform{{ end }}
{{- end }}

{{- define "orch.setupIsHook" -}}
{{- not (or .Values.postgres.bundled .Values.objects.bundled .Values.secrets.create) }}
{{- end }}

{{- /* The components of the platform, without the bundled servers. */}}
{{- define "orch.components" -}}
backend scheduler runtime mcp redis frontend
{{- end }}
