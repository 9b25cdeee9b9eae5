"""Names of products and technologies as their makers write them."""

from __future__ import annotations

NAMES = """
    ActiveMQ AirTable AlmaLinux AngularJS ApolloServer AppArmor AppSync ArangoDB ArcGIS ArgoCD ASP.NET
    AssemblyScript AutoMapper AutoML AWS Babel.js BackstopJS BERTopic BigQuery BitBucket BlazeMeter BoringSSL
    BrowserStack BuildKite BullMQ BunJS C++ C# CakePHP Celery CentOS Chart.js ChatGPT CI/CD CircleCI
    ClickHouse ClickUp CloudFlare CloudFormation CloudFront CloudWatch CockroachDB CodeQL CodePen CoffeeScript
    CommonJS ConfigMap CoreML CosmosDB CouchDB CouchBase CUDA CustomTkinter D3.js DaisyUI DataDog DataGrip DBeaver
    DeepSpeed DevOps DevTools DjangoREST DocuSign DotNet DuckDB DynamoDB EasyMock eBPF ECMAScript EditorConfig
    ElastiCache ElasticSearch Ember.js EnvoyProxy esbuild ESLint ESModules EventBridge Express.js F# FaaS FastAPI
    FastCGI FFmpeg FileZilla FireBase FireStore FluentBit FluentD FreeBSD FreeRTOS GraphQL GitHub GitLab GitOps
    GoLand GraalVM gRPC GStreamer GTK HAProxy HarmonyOS HashiCorp HashMap HBase HomeBrew HTTP/2 HuggingFace IaC
    ImageMagick IndexedDB InfluxDB IntelliJ iOS iPadOS IPv6 JavaFX JavaScript JBoss JetBrains jQuery JSDoc JSON JSX
    JUnit JupyterLab JWT K8s KafkaJS KeyCloak KeyDB Knex.js KoaJS KubeFlow kubectl LangChain LaTeX LaunchDarkly
    LevelDB libuv LightGBM LinkedIn LiveView LLaMA LlamaIndex LLVM LoadRunner LocalStack LocalStorage Log4j LogStash
    LMDB macOS MariaDB MathJax MatLab MatPlotLib MaxMind MeiliSearch MemCached MessagePack MicroPython MinIO MLflow
    MobX MongoDB MQTT MSBuild MSSQL MUI MyBatis MySQL NATS NestJS Neo4j NetBSD NetBeans Netlify NewRelic NextAuth
    Next.js NgRx nginx NixOS Node.js NodeMCU NoSQL npm NumPy NuGet Nuxt.js OAuth2 ObjectBox Objective-C OCaml OpenAI
    OpenAPI OpenCV OpenGL OpenID OpenSearch OpenShift OpenSSL OpenStack OpenTelemetry OpenTofu OpenVPN OTel
    PagerDuty ParcelJS PayPal PHPUnit PlanetScale PlayStation PM2 PocketBase PostCSS PostGIS PostgREST PostgreSQL
    PostHog PowerBI PowerShell PnP ProGuard ProtoBuf PyCharm PyPI PySide PyTest PyTorch QuickSight RabbitMQ ReactJS
    ReadTheDocs RedHat ReDoc RedShift RESTful RethinkDB RocksDB RubyGems RxJS SaaS SageMaker SciPy ScyllaDB SecOps
    SELinux SendGrid ServiceNow SharePoint SignalR SolidJS SonarQube SparkSQL SpringBoot SQLAlchemy SQLite SQLServer
    StackOverflow StatsD StoryBook Stripe SuperTest SurrealDB SvelteKit SwiftUI systemd TailwindCSS TCP/IP TeamCity
    TensorFlow TensorRT TestCafe TestFlight Three.js TiDB TimescaleDB TomCat tRPC TruffleRuby TurboRepo TypeORM
    TypeScript TypeSense UIKit Unix UniFi UnoCSS UTF-8 vCenter VirtualBox VisualVM Vite vLLM VMware VoIP VSCode
    vSphere Vue.js VueX WebAssembly WebDriver WebGL WebGPU WebHook Webpack WebRTC WebSocket WebStorm WhatsApp WiFi
    WinForms WireGuard WireMock WordPress WSL2 XGBoost xUnit YAML YouTrack YugabyteDB ZeroMQ ZooKeeper zlib Zustand
    front-end back-end e-mail pre-commit
""".split()
