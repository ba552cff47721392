{{- /* Parts that the platform's own processes share. */}}

{{- /* The key of the Secret for each secret setting. */}}
{{- define "orch.secretKeys" -}}
ORCH_DATABASE_URL: database_url
ORCH_DATABASE_ADMIN_URL: database_admin_url
ORCH_NATS_URL: nats_url
ORCH_MQTT_URL: mqtt_url
ORCH_S3_SECRET_ACCESS_KEY: s3_secret_access_key
SECRET_MASTER_KEY: master_key
ORCH_TOKEN_KEY: token_key
ORCH_AUDIT_KEY: audit_key
ORCH_BACKUP_KEY: backup_key
ORCH_ADMIN_PASSWORD: admin_password
ORCH_REDIS_PASSWORD: redis_password
{{- end }}

{{- /* The secret settings of a component, separated by spaces. */}}
{{- define "orch.secretsOf" -}}
{{- $values := .root.Values -}}
{{- $nats := ternary " ORCH_NATS_URL" "" $values.nats.enabled -}}
{{- if eq .component "setup" }}ORCH_DATABASE_URL ORCH_DATABASE_ADMIN_URL ORCH_S3_SECRET_ACCESS_KEY
{{- else if eq .component "backend" }}ORCH_DATABASE_URL{{ $nats }} ORCH_S3_SECRET_ACCESS_KEY SECRET_MASTER_KEY ORCH_TOKEN_KEY ORCH_AUDIT_KEY ORCH_ADMIN_PASSWORD
{{- else if eq .component "scheduler" }}ORCH_DATABASE_URL{{ $nats }} ORCH_S3_SECRET_ACCESS_KEY SECRET_MASTER_KEY ORCH_AUDIT_KEY{{ if $values.scheduler.encryptBackups }} ORCH_BACKUP_KEY{{ end }}
{{- else if eq .component "runtime" }}ORCH_DATABASE_URL{{ $nats }} ORCH_S3_SECRET_ACCESS_KEY SECRET_MASTER_KEY{{ if $values.nats.mqtt }} ORCH_MQTT_URL{{ end }}
{{- else if eq .component "redis" }}ORCH_DATABASE_URL{{ $nats }} ORCH_REDIS_PASSWORD
{{- end }}
{{- end }}

{{- /* Mounts only the files of the Secret that a component reads. */}}
{{- define "orch.secretVolume" -}}
{{- $keys := include "orch.secretKeys" . | fromYaml -}}
- name: secrets
  secret:
    secretName: {{ include "orch.secretName" .root }}
    defaultMode: 288 # 0440
    items:
      {{- range splitList " " (include "orch.secretsOf" .) }}
      - { key: {{ get $keys . }}, path: {{ get $keys . }} }
      {{- end }}
{{- end }}

{{- /* The folders of external secrets, by name. Only components that read secret stores mount them. */}}
{{- define "orch.foldersOf" -}}
{{- if has .component (list "backend" "runtime") }}{{ toJson .root.Values.secrets.folders }}{{ else }}{}{{ end -}}
{{- end }}

{{- define "orch.folderMounts" -}}
{{- range $name, $_ := include "orch.foldersOf" . | fromJson }}
- { name: folder-{{ $name }}, mountPath: /run/secret-folders/{{ $name }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "orch.folderVolumes" -}}
{{- range $name, $secret := include "orch.foldersOf" . | fromJson }}
- name: folder-{{ $name }}
  secret: { secretName: {{ $secret }}, defaultMode: 288 } # 0440
{{- end }}
{{- end }}

{{- /* Environment variables: common ones, those of the component, and the paths of secret files. Parameters: root,
component, extra (a map) */}}
{{- define "orch.env" -}}
{{- $values := .root.Values -}}
{{- $keys := include "orch.secretKeys" . | fromYaml -}}
{{- $all := dict "ORCH_EDITION" "production" "ORCH_BIND" "0.0.0.0" -}}
{{- $secrets := include "orch.secretsOf" . | splitList " " | compact -}}
{{- if has "ORCH_S3_SECRET_ACCESS_KEY" $secrets -}}
{{- $o := $values.objects -}}
{{- $_ := merge $all (dict "ORCH_OBJECTS_URL" $o.url "ORCH_S3_REGION" $o.region "ORCH_S3_ACCESS_KEY_ID" $o.accessKeyId "ORCH_S3_PATH_STYLE" ($o.pathStyle | toString)) -}}
{{- $endpoint := ternary "http://objects:7070" $o.endpoint $o.bundled -}}
{{- if $endpoint }}{{ $_ := set $all "ORCH_S3_ENDPOINT" $endpoint }}{{ end -}}
{{- end -}}
{{- range $secrets }}{{ $_ := set $all (printf "%s_FILE" .) (printf "/run/secrets/%s" (get $keys .)) }}{{ end -}}
{{- $folders := list -}}
{{- range $name, $_ := include "orch.foldersOf" . | fromJson -}}
{{- $folders = append $folders (printf "%s=/run/secret-folders/%s" $name $name) -}}
{{- end -}}
{{- with $folders }}{{ $_ := set $all "ORCH_SECRET_FOLDERS" (join "," .) }}{{ end -}}
{{- $own := get (get $values .component | default dict) "settings" | default dict -}}
{{- $all = mergeOverwrite $all (.extra | default dict) $values.settings $own -}}
{{- range $name, $value := $all }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}

{{- /* A process that waits for the database does not listen yet, so startup may take 10 minutes. Parameters: port, live
and ready (paths) */}}
{{- define "orch.probes" -}}
startupProbe:
  httpGet: { path: {{ .live }}, port: {{ .port }} }
  periodSeconds: 5
  failureThreshold: 120
livenessProbe:
  httpGet: { path: {{ .live }}, port: {{ .port }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: {{ .ready }}, port: {{ .port }} }
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end }}

{{- /* A Deployment that runs a process of the service image. Parameters: root, component, main, ports (a map), probe (a
dict), extra (settings), grace */}}
{{- define "orch.deployment" -}}
{{- $values := get .root.Values .component -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "orch.metadata" . | nindent 2 }}
spec:
  replicas: {{ $values.replicas }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
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
        {{- include "orch.podSecurity" (dict "user" 10001) | nindent 8 }}
      terminationGracePeriodSeconds: 40
      containers:
        - name: {{ .component }}
          {{- include "orch.image" (dict "root" .root "image" "service") | nindent 10 }}
          args: [{{ .main }}]
          env:
            {{- include "orch.env" . | trim | nindent 12 }}
          ports:
            {{- range $name, $port := .ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
            {{- end }}
          {{- include "orch.probes" .probe | nindent 10 }}
          # Endpoints are updated before connections are refused.
          lifecycle: { preStop: { sleep: { seconds: 5 } } }
          securityContext:
            {{- include "orch.containerSecurity" . | nindent 12 }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- if include "orch.secretsOf" . }}
            - { name: secrets, mountPath: /run/secrets, readOnly: true }
            {{- end }}
            {{- with include "orch.folderMounts" . | trim }}
            {{- . | nindent 12 }}
            {{- end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 4Gi }
        {{- if include "orch.secretsOf" . }}
        {{- include "orch.secretVolume" . | nindent 8 }}
        {{- end }}
        {{- with include "orch.folderVolumes" . | trim }}
        {{- . | nindent 8 }}
        {{- end }}
{{- end }}
